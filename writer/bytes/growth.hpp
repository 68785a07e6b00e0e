// What becomes of a call that was to make a file larger: its status, and the signal that came with a refusal.
//
// Context   any; raw system calls only.
// Promises  where SIGXFSZ and SIGPIPE are blocked, as in the agent around all that it does on a host's
//           thread, none that we caused is left waiting for the moment when the mask is restored, at which
//           the host would die of it. One that the thread itself kept blocked and waiting is taken too: the
//           two cannot be told apart.
#pragma once

#include "writer/model/status.hpp"

namespace jitquill {

// `error`: -errno, or 0 where nothing was taken. kNoSpace (ENOSPC, EDQUOT, EFBIG) or kWriteFailed.
Status refused_growth(long error) noexcept;

// The same signal for files that are written to by other ways (-EFBIG, -EPIPE). Nothing for other values.
void take_caused_signal(long error) noexcept;

}  // namespace jitquill
