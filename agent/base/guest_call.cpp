#include "agent/base/guest_call.hpp"

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
// glibc's own, for setgid() in all threads, which would hang on a thread that blocks it. Its other one, for
// cancellation, is held back: up to glibc 2.36 it ends a thread of asynchronous cancel type even after that
// has disabled cancellation, if pthread_cancel() looked just before. Then the leaf lock would be held for
// ever.
constexpr int kSigSetXid = 33;
constexpr std::uint64_t kBlocked = ~(kSynchronous | bit(kSigSetXid));

// The kernel's mask, whose size is its own. Not pthread_sigmask(), which hosts and their sanitizers wrap.
void change_mask(int how, const std::uint64_t* mask, std::uint64_t* before) noexcept {
  (void)raw::call(SYS_rt_sigprocmask, how, mask, before, sizeof *mask);
}

}  // namespace

HostState enter_guest() noexcept {
  HostState host{};
  host.error = errno;
  change_mask(SIG_BLOCK, &kBlocked, &host.mask);
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
