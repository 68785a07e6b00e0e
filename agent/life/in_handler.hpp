// Whether the calling thread is inside a signal handler: there pthread_create(), which allocates, may not be
// called.
//
// Context   any thread, any moment. Raw system calls, some 0.1 ms.
// Promises  true inside each handler that was made with a restorer, as libc makes them all, up to 16 MiB of
//           stack deep; where the stack is not known, true if the process has any handler. False is right.
//           True may be wrong where memory looks like a handler's frame.
#pragma once

namespace jitquill {

bool is_in_handler() noexcept;

}  // namespace jitquill
