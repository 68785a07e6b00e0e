// A thread of ours in the host: for an intake whose runtime must be waited for, and for the drain.
//
// Context   [life]: inside guest_call(), whose mask the thread inherits: it takes no asynchronous signal, but
//           those that a fault raises, and glibc's own for setgid(). No lock of ours may be held: the C
//           library allocates.
// Promises  when it is woken it takes the CPU of no thread of the host: SCHED_BATCH, where that thread is
//           SCHED_OTHER. Its share of the CPUs is the same.
// Does not  last longer than body(); nobody joins it. A forked child does not have it.
#pragma once

#include <cstddef>

namespace jitquill {

// False: the process may have no more threads.
bool start_own_thread(void (*body)(), std::size_t stack_size);

// Whether all other threads of the process have ended: its first, which then is a zombie, and the calling one
// are left.
bool is_last_thread() noexcept;

// Whether the host has no thread but the calling one. False where nobody can say. Some 20 us.
bool is_only_thread_of_host() noexcept;

}  // namespace jitquill
