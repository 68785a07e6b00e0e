// What one instruction does to a function's frame: the description from which unwinding tables are built.
//
// The CFA (canonical frame address) is the stack pointer's value just before the call that entered the
// function; on entry it is one return address above the stack pointer. Registers have their DWARF numbers.
//
// Context   any; plain values. The meanings are in frame_event.def.
#pragma once

#include <cstdint>

namespace jitquill {

enum class FrameEventKind : std::uint8_t {
#define FRAME_EVENT(name, NAME, number, needs_register) name = number,
#include "writer/model/frame_event.def"
#undef FRAME_EVENT
};

// Laid out as jitquill_frame_event (padding for its reserved member), and allowed to alias it: a runtime's
// rows are read where they lie.
struct [[gnu::may_alias]] FrameEvent {
  std::uint32_t offset;  // bytes from the start of the code to the end of the instruction
  FrameEventKind kind;
  std::uint8_t reg;     // DWARF number, 0 where the kind needs none
  std::uint32_t value;  // bytes, 0 where the kind needs none
};

}  // namespace jitquill
