// Wraps every entry from the host: what must not be seen of us from outside.
//
// While the body runs, the thread cannot be cancelled and takes no asynchronous signal, so the leaf lock is
// never held by a thread that was stopped half-way. Signals that a fault raises stay open: JITs live by
// SIGSEGV.
//
// Context   [notify], [life]; async-signal-safe.
// Promises  errno, mask and cancellation state are the host's again afterwards. A cancellation that came
//           meanwhile acts at the very end, when nothing is held: so no function up to the host's may be
//           noexcept.
#pragma once

#include <cstdint>

namespace jitquill {

struct HostState {
  std::uint64_t mask;  // of the kernel, all 64 signals
  int cancel_state;
  int error;
};

HostState enter_guest() noexcept;
void leave_guest(const HostState& host);  // may not return: a pending cancellation unwinds from here

template <class Body>
auto guest_call(Body body) {
  const HostState host = enter_guest();
  const auto result = body();
  leave_guest(host);
  return result;
}

}  // namespace jitquill
