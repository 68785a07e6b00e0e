#include "agent/base/guest_call.hpp"

#include <ctime>

#include <pthread.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include "writer/bytes/raw_calls.hpp"

namespace jitquill {
namespace {

constexpr std::uint64_t bit(int signal) noexcept {
  return std::uint64_t{1} << (signal - 1);
}

// Raised by the thread's own instruction: blocked, they would end the process instead of reaching its
// handler.
constexpr std::uint64_t kSynchronous =
    bit(SIGSEGV) | bit(SIGBUS) | bit(SIGFPE) | bit(SIGILL) | bit(SIGTRAP) | bit(SIGSYS);
// glibc's own, for pthread_cancel() and for setgid() in all threads, which would hang on a thread that blocks
// it.
constexpr int kSigCancel = 32, kSigSetXid = 33;
constexpr std::uint64_t kBlocked = ~(kSynchronous | bit(kSigCancel) | bit(kSigSetXid));

// The kernel's mask, whose size is its own. Not pthread_sigmask(), which hosts and their sanitizers wrap.
void change_mask(int how, const std::uint64_t* mask, std::uint64_t* before) noexcept {
  (void)raw::call(SYS_rt_sigprocmask, how, mask, before, sizeof *mask);
}

}  // namespace

HostState enter_guest() noexcept {
  HostState host{};
  host.error = errno;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &host.cancel_state);
  change_mask(SIG_BLOCK, &kBlocked, &host.mask);
  return host;
}

void leave_guest(const HostState& host) {
  change_mask(SIG_SETMASK, &host.mask, nullptr);
  errno = host.error;
  int ours;
  pthread_setcancelstate(host.cancel_state, &ours);
}

// One that the host itself kept blocked and pending is taken too: the two cannot be told apart.
void take_caused_signal() noexcept {
  const std::uint64_t file_size_signal = bit(SIGXFSZ);
  const timespec at_once{};
  (void)raw::call(SYS_rt_sigtimedwait, &file_size_signal, nullptr, &at_once, sizeof file_size_signal);
}

}  // namespace jitquill
