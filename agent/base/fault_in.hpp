// Reads the caller's memory once, before anything of ours is held.
//
// A wrong pointer raises SIGSEGV in the thread that announced, and its handler may leave by siglongjmp() or
// end the thread: that must not happen under the leaf lock, which would then be held for ever. A handler that
// makes the memory readable and returns, as of runtimes that commit on first touch, is served all the same.
//
// Context   any; outside guest_call(). One load a page, one walk of the rows, prefetches of the code's
//           first KiB.
// Does not  keep the memory readable: what another thread takes away meanwhile still faults under the lock.
#pragma once

#include <cstdint>
#include <span>

#include "writer/model/code.hpp"

namespace jitquill {

void fault_in(std::span<const std::uint8_t> memory) noexcept;

// All that the load points to, but bytes that may be unreadable.
void fault_in(const CodeLoad& load) noexcept;

}  // namespace jitquill
