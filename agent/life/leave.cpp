#include "agent/life/leave.hpp"

#include "agent/life/agent.hpp"

namespace jitquill {
namespace {

// An exit must not hang on a thread that was stopped inside us and will never run again.
constexpr std::uint64_t kWaitNs = 100'000'000;

}  // namespace

void leave() {
  if (!agent().has_outputs_here()) return;
  (void)guest_call([] {
    // Also not when this thread is inside already: a fault handler that ends the process in the middle of
    // our work, whose tables may be half-changed.
    if (LeafLock::lock(kWaitNs) != LeafLock::Entry::kTaken) return 0;
    agent().take_over();
    agent().write_statistics();
    agent().let_go();
    LeafLock::unlock();
    return 0;
  });
}

}  // namespace jitquill
