// Copies what the drain needs of a call stack (lanes/call_stack.hpp) into the thread's lane.
//
// Context   [hook]. No system call on a thread's own stack; on a fiber's or a handler's one, which asks how
//           far it can be read.
// Promises  never reads what is not there. Return addresses that hooks have taken (mirror.hpp) are put back
//           in the copy. Bounded: a deeper stack is cut. One that finds no room is lost, and counted, as any
//           record.
#pragma once

#include "agent/lanes/call_stack.hpp"

namespace jitquill {

// The frame that stands at `registers`, at the entry whose record comes next.
void put_call_stack(lanes::RecordKind kind, std::uint64_t value,
                    const lanes::StackRegisters& registers) noexcept;

}  // namespace jitquill
