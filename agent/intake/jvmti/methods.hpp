// What the VM knows of the methods that one event is about: each is asked for once, however often its code
// was inlined. Nothing is kept from event to event: classes go, and their ids may be used again.
//
// Context   [notify], without any lock of ours: the VM is called, and may wait for its own.
// Promises  what the VM allocates for us is given back to it. Everything handed out lives as long as the
//           scratch memory.
#pragma once

#include <cstdint>
#include <span>

#include "agent/intake/jvmti/interface.hpp"
#include "agent/intake/jvmti/scratch.hpp"

namespace jitquill::intake::jvmti {

struct Method {
  const char* name = nullptr;
  const char* file = nullptr;
  std::span<const LineStart> lines;  // ascending; empty for native code, or compiled without them

  // 0 = unknown. Below 0 is code in front of the first bytecode, as that of a lock: it gets the first line.
  std::uint32_t line_at(std::int64_t bytecode) const noexcept;
};

class Methods {
 public:
  Methods(Env& env, Scratch& scratch) noexcept : env_(env), scratch_(scratch) {}

  // Null: the VM has no name for it, there are too many, or no memory.
  const Method* find(MethodId id) noexcept;

 private:
  struct Slot {
    MethodId id;
    const Method* method;
  };
  static constexpr std::size_t kSlots = 4096;
  static constexpr std::size_t kMost = kSlots / 4 * 3;

  Slot* slot_of(MethodId id) noexcept;
  const Method* ask(MethodId id) noexcept;
  std::span<const LineStart> ask_lines(MethodId id) noexcept;

  Env& env_;
  Scratch& scratch_;
  std::span<Slot> slots_;
  std::size_t count_ = 0;
};

}  // namespace jitquill::intake::jvmti
