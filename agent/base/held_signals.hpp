// Which signals are held back while the agent works in a host's thread, so that no handler runs then.
//
// Context   [hook]; a constant.
#pragma once

#include <signal.h>

#include <cstdint>

namespace jitquill {

constexpr std::uint64_t signal_bit(int signal) noexcept {
  return std::uint64_t{1} << (signal - 1);
}

// Raised by the thread's own instruction: blocked, they would end the process instead of reaching its
// handler.
inline constexpr std::uint64_t kSynchronousSignals = signal_bit(SIGSEGV) | signal_bit(SIGBUS) |
                                                     signal_bit(SIGFPE) | signal_bit(SIGILL) |
                                                     signal_bit(SIGTRAP) | signal_bit(SIGSYS);
// glibc's own, for setgid() in all threads, which would hang on a thread that blocks it. Its other one, for
// cancellation, is held back: up to glibc 2.36 it ends a thread of asynchronous cancel type even after that
// has disabled cancellation, if pthread_cancel() looked just before. Then the leaf lock would be held for
// ever.
inline constexpr int kSigSetXid = 33;

// The kernel's mask.
inline constexpr std::uint64_t kHeldSignals = ~(kSynchronousSignals | signal_bit(kSigSetXid));

}  // namespace jitquill
