// From a call stack as a hook took it (lanes/call_stack.hpp) to the functions that had called.
//
// Context   [drain]; `jitquill recover`, which has no plugin: frame pointers alone there. Any one
//           thread.
// Promises  what cannot be told of a stack is left out, and it is marked as cut. Nothing in a payload is
//           trusted.
#pragma once

#include <cstdint>
#include <span>

#include "agent/drain/functions.hpp"
#include "agent/drain/lane_reader.hpp"
#include "agent/stacks/walker.hpp"

namespace jitquill::drain {

// Of the entry of `function`; kHidden and kNone: of one that is not told of.
struct TakenStack {
  FunctionNumber function;
  CallStack stack;
  // What the record of that entry is like: the slot is in front of the stack, or behind a frame pointer.
  std::uint64_t what = 0;
  std::uint32_t slots[2] = {};

  bool is_of(const Taken& entry) const noexcept {
    return entry.kind == lanes::kind_of(what) && entry.what == (what & lanes::kLow48) &&
           (entry.slot == slots[0] || entry.slot == slots[1]);
  }
};

class CallStacks final : private stacks::CodeSource {
 public:
  static constexpr std::size_t kMostFrames = 512;

  // `plugin`: instead of the one that is open in this process (stacks/open_plugin.hpp).
  explicit CallStacks(Functions& functions, const stacks::Plugin* plugin = nullptr) noexcept
      : functions_(functions), plugin_(plugin) {}

  // Once before the payloads of one look at the lanes.
  void begin() noexcept;
  // Its callers are valid until the next call.
  TakenStack take(std::span<const std::uint8_t> payload, std::uint64_t when_ns) noexcept;

 private:
  bool find_tables(std::uint64_t address, stacks::CodeTables& tables) noexcept override;
  FunctionNumber entered(std::uint64_t what, std::uint64_t when_ns) noexcept;

  Functions& functions_;
  const stacks::Plugin* plugin_;
  stacks::StackWalker walker_;
  std::uint64_t when_ns_ = 0;  // of the stack at hand
  std::uint64_t addresses_[kMostFrames];
  FunctionNumber callers_[kMostFrames];
};

}  // namespace jitquill::drain
