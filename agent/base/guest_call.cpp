#include "agent/base/guest_call.hpp"

#include <ctime>

#include <pthread.h>

#include <cerrno>
#include <cstdint>
#include "writer/bytes/raw_calls.hpp"

namespace jitquill {
namespace {

// Raised by the thread's own instruction: blocked, they would end the process instead of reaching its
// handler.
constexpr int kSynchronous[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};

sigset_t asynchronous_signals() noexcept {
  sigset_t set;
  sigfillset(&set);
  for (const int signal : kSynchronous) sigdelset(&set, signal);
  return set;
}

}  // namespace

HostState enter_guest() noexcept {
  HostState host{};
  host.error = errno;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &host.cancel_state);
  const sigset_t blocked = asynchronous_signals();
  // Not the raw call: glibc's leaves its own SIGCANCEL and SIGSETXID open, without which setgid() hangs.
  pthread_sigmask(SIG_BLOCK, &blocked, &host.mask);
  return host;
}

void leave_guest(const HostState& host) {
  pthread_sigmask(SIG_SETMASK, &host.mask, nullptr);
  errno = host.error;
  int ours;
  pthread_setcancelstate(host.cancel_state, &ours);
}

// One that the host itself kept blocked and pending is taken too: the two cannot be told apart.
void take_caused_signal() noexcept {
  const std::uint64_t file_size_signal = std::uint64_t{1} << (SIGXFSZ - 1);
  const timespec at_once{};
  (void)raw::call(SYS_rt_sigtimedwait, &file_size_signal, nullptr, &at_once, sizeof file_size_signal);
}

}  // namespace jitquill
