// The thunks through which the sleds of a runtime reach the agent's hooks: code of ours in the runtime's own
// memory, since hooks are too far for a rel32.
//
// Context   any thread; one leaf lock, and the allocator's while it is held.
// Promises  thunks stay until forget(), which goes before the runtime's memory. They are announced as code,
//           so that a stack that is walked in one is whole.
#pragma once

#include <jitquill/asmjit/jit_memory.hpp>
#include <jitquill/asmjit/rows.hpp>

#include <jitquill/jitquill.h>

#include <mutex>

namespace jitquill::asmjit_detail {

class Thunks {
 public:
  static constexpr std::size_t kSpacing = 16;

  // Where the thunks of all kinds lie, at kSpacing * kind, within reach of [base, base + size). Null: no
  // agent that has hooks, or no memory.
  const char* near(asmjit::JitAllocator& allocator, const void* base, std::size_t size) noexcept;
  // Before they are freed with the allocator's other memory.
  void forget() noexcept {
    for (const char* set : sets_) jitquill_code_unloaded(set);
    sets_.clear();
  }

 private:
  static bool reaches(const char* thunks, const char* base, std::size_t size) noexcept {
    constexpr std::int64_t kReach = (std::int64_t{1} << 31) - 4096;
    const std::int64_t below = thunks - base, above = thunks - (base + size);
    return below < kReach && above > -kReach;
  }
  static const char* make(asmjit::JitAllocator& allocator) noexcept;

  std::mutex lock_;
  Rows<const char*> sets_;
};

inline const char* Thunks::near(asmjit::JitAllocator& allocator, const void* base,
                                std::size_t size) noexcept {
  const auto* const code = static_cast<const char*>(base);
  const std::lock_guard<std::mutex> hold(lock_);
  for (const char* set : sets_)
    if (reaches(set, code, size)) return set;
  const char* const made = make(allocator);
  if (made == nullptr || !sets_.put(made) || !reaches(made, code, size)) return nullptr;
  return made;
}

// jmp [rip + 0]; address64
inline const char* Thunks::make(asmjit::JitAllocator& allocator) noexcept {
  constexpr jitquill_site_kind kKinds[] = {JITQUILL_SITE_ENTER, JITQUILL_SITE_LEAVE, JITQUILL_SITE_TAIL};
  constexpr unsigned char kJump[] = {0xFF, 0x25, 0, 0, 0, 0};
  unsigned char bytes[4 * kSpacing];
  std::memset(bytes, 0xCC, sizeof bytes);
  for (const jitquill_site_kind kind : kKinds) {
    const void* const hook = jitquill_site_hook(kind);
    if (hook == nullptr) return nullptr;
    std::memcpy(bytes + kSpacing * kind, kJump, sizeof kJump);
    std::memcpy(bytes + kSpacing * kind + sizeof kJump, &hook, sizeof hook);
  }
  jitquill_code news{};
  news.struct_size = sizeof news;
  news.name = "jitquill_site_thunks";
  news.size = sizeof bytes;
  news.unwinding = JITQUILL_UNWINDING_FRAME_EVENTS;  // none: the return address is where it was
  news.room = jitquill_unwinding_size(&news);
  Memory memory;
  if (allocate(allocator, sizeof bytes + news.room, memory) != kNoError) return nullptr;
  if (write_bytes(allocator, memory, bytes, sizeof bytes) != kNoError) {
    allocator.release(memory.executable);
    return nullptr;
  }
  news.addr = memory.executable;
  jitquill_code_loaded(&news, nullptr);
  return static_cast<const char*>(memory.executable);
}

}  // namespace jitquill::asmjit_detail
