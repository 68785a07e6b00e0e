// The events of the ITT JIT API that are understood (events.def): the structure of each is read and handed to
// the listener.
//
// Context   [notify]; hear() under the intakes' lock.
// Promises  a structure that cannot be read is counted, and changes nothing.
#pragma once

namespace jitquill::intake::itt {

bool is_understood(unsigned number) noexcept;

// `of`: the event's structure. Nothing happens if it is not understood.
void hear(unsigned number, const void* of);

}  // namespace jitquill::intake::itt
