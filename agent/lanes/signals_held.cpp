#include "agent/lanes/signals_held.hpp"

#include <signal.h>
#include <sys/syscall.h>

#include "agent/base/held_signals.hpp"
#include "agent/hooks/cpu.hpp"

namespace jitquill::lanes {
SignalsHeld::SignalsHeld() noexcept {
  (void)cpu::kernel_call(SYS_rt_sigprocmask, SIG_BLOCK, &kHeldSignals, &before_, sizeof before_);
}
SignalsHeld::~SignalsHeld() {
  (void)cpu::kernel_call(SYS_rt_sigprocmask, SIG_SETMASK, &before_, nullptr, sizeof before_);
}

}  // namespace jitquill::lanes
