// The last whole walk of a thread's stack, so that the next one need not go where nothing has changed:
// between two samples most threads keep all frames but the innermost few, and a step by unwinding tables
// takes microseconds.
//
// A walk goes on from a frame's registers by what is on the stack from its stack pointer on. So where it
// comes to the same registers as the walk before, and the same bytes are from there to the outermost frame,
// the rest is the same. (Of the registers those that calls preserve: what a caller's tables ask for.)
//
// Context   as the walker that uses it.
// Promises  only walks that came to the outermost frame without a guess are kept.
// Does not  see that code or its tables changed: clear() then.
#pragma once

#include <cstdint>
#include <span>

#include "agent/stacks/plugin.hpp"
#include "writer/bytes/growing_array.hpp"

namespace jitquill::stacks {

struct Slice {
  std::uint64_t at;  // the address that its first byte had
  std::span<const std::uint8_t> bytes;
};

class WalkMemo {
 public:
  struct Frame {
    std::uint64_t address;  // as the walk told it
    std::uint64_t sp;
    std::uint64_t other[7];  // pc and what else calls preserve
  };

  void clear() noexcept;
  void begin() noexcept { coming_.clear(); }
  // From this frame of the walk before on, outwards; empty: it is not known.
  std::span<const Frame> find(const Registers& registers, std::uint64_t address, const Slice& slice) noexcept;
  void note(const Registers& registers, std::uint64_t address) noexcept;
  // The walk that was noted has come to the outermost frame; or to `rest`, that was found.
  void keep(const Slice& slice, std::span<const Frame> rest = {}) noexcept;

 private:
  static Frame frame_of(const Registers& registers, std::uint64_t address) noexcept;

  GrowingArray<Frame> frames_;  // the innermost first: stack pointers ascend
  std::uint64_t low_ = 0;       // what was on the stack from here to the outermost frame's stack pointer
  GrowingArray<std::uint8_t> bytes_;
  GrowingArray<Frame> coming_;  // of the walk at hand
};

}  // namespace jitquill::stacks
