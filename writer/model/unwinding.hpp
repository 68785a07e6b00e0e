// What is known of a function's frame, in whichever form its runtime has it.
//
// Context   any; plain values. The spans live as long as the call that hands them on.
#pragma once

#include <cstdint>
#include <span>

#include "writer/model/frame_event.hpp"

namespace jitquill {

// Call frame instructions that a compiler made, cut out of its .eh_frame: nothing in them depends on where
// they lie, or where the function does.
struct ReadyCfi {
  std::uint64_t code_alignment = 1;
  std::int64_t data_alignment = -8;
  std::uint64_t return_address = 16;      // DWARF number
  bool is_signal_frame = false;           // the caller's pc is exact, not behind a call
  std::span<const std::uint8_t> initial;  // the CIE's instructions
  std::span<const std::uint8_t> rows;     // the FDE's
};

struct Unwinding {
  enum class Kind : std::uint8_t {
    kUnknown,        // stacks end here
    kFrameEvents,    // `events`, refused if they describe no possible frame. A leaf has none
    kReady,          // `ready`
    kFramePointers,  // rbp is kept: unwinders may guess
    kRefused,        // what the runtime gave could not be used
  };
  Kind kind = Kind::kUnknown;
  std::span<const FrameEvent> events;
  ReadyCfi ready;

  static Unwinding from_events(std::span<const FrameEvent> events) noexcept {
    return {.kind = Kind::kFrameEvents, .events = events, .ready = {}};
  }
  bool has_rows() const noexcept { return kind == Kind::kFrameEvents || kind == Kind::kReady; }
};

}  // namespace jitquill
