#include "agent/base/guest_call.hpp"

#include <pthread.h>

#include <cerrno>
#include <csignal>
#include <cstdint>

#include "agent/base/held_signals.hpp"
#include "writer/bytes/raw_calls.hpp"

namespace jitquill {
namespace {

// The kernel's mask, whose size is its own. Not pthread_sigmask(), which hosts and their sanitizers wrap.
void change_mask(int how, const std::uint64_t* mask, std::uint64_t* before) noexcept {
  (void)raw::call(SYS_rt_sigprocmask, how, mask, before, sizeof *mask);
}

}  // namespace

HostState enter_guest() noexcept {
  HostState host{};
  host.error = errno;
  change_mask(SIG_BLOCK, &kHeldSignals, &host.mask);
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &host.cancel_state);
  return host;
}

// A cancellation that waited for us acts in pthread_setcancelstate() if the host's type is asynchronous, and
// glibc 2.36 forgets there that the thread's result is PTHREAD_CANCELED; its pthread_setcanceltype() does
// not.
void leave_guest(const HostState& host) {
  int ours;
  int type;
  pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type);
  pthread_setcancelstate(host.cancel_state, &ours);
  change_mask(SIG_SETMASK, &host.mask, nullptr);
  errno = host.error;
  pthread_setcanceltype(type, &ours);
}

}  // namespace jitquill
