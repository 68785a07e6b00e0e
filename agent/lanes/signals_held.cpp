#include "agent/lanes/signals_held.hpp"

#include <signal.h>
#include <sys/syscall.h>

#include "agent/hooks/cpu.hpp"

namespace jitquill::lanes {
namespace {

constexpr std::uint64_t bit(int signal) noexcept {
  return std::uint64_t{1} << (signal - 1);
}

// As base/guest_call.cpp, which says why glibc's signal for setgid() is among them.
constexpr int kSigSetXid = 33;
constexpr std::uint64_t kHeld =
    ~(bit(SIGSEGV) | bit(SIGBUS) | bit(SIGFPE) | bit(SIGILL) | bit(SIGTRAP) | bit(SIGSYS) | bit(kSigSetXid));

}  // namespace

SignalsHeld::SignalsHeld() noexcept {
  (void)cpu::kernel_call(SYS_rt_sigprocmask, SIG_BLOCK, &kHeld, &before_, sizeof before_);
}
SignalsHeld::~SignalsHeld() {
  (void)cpu::kernel_call(SYS_rt_sigprocmask, SIG_SETMASK, &before_, nullptr, sizeof before_);
}

}  // namespace jitquill::lanes
