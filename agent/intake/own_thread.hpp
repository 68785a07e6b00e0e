// A thread of ours in the host: for an intake whose runtime must be waited for, and for nothing else.
//
// Context   [life]: start() of an intake, inside guest_call(), whose mask the thread inherits: it takes no
//           asynchronous signal, but those that a fault raises, and glibc's own for setgid().
// Does not  last: body() ends, and so does the thread; nobody joins it. A forked child does not have it.
#pragma once

#include <cstddef>

namespace jitquill::intake {

// False: the process may have no more threads.
bool start_own_thread(void (*body)(), std::size_t stack_size);

}  // namespace jitquill::intake
