#include "agent/life/leave.hpp"

#include "agent/intake/intake_lock.hpp"
#include "agent/intake/lookout.hpp"
#include "agent/life/agent.hpp"

namespace jitquill {
namespace {

// An exit must not hang on a thread that was stopped inside us and will never run again.
constexpr std::uint64_t kWaitNs = 100'000'000;

}  // namespace

void leave() {
  const bool has_put_off = intake::has_put_off();
  if (!has_put_off && !agent().has_outputs_here()) return;
  (void)guest_call([has_put_off] {
    using intake::IntakeLock;
    const bool may_look = has_put_off && IntakeLock::lock(kWaitNs) == OwnerLock::Entry::kTaken;
    // Also not when this thread is inside already: a fault handler that ends the process in the middle of
    // our work, whose tables may be half-changed.
    if (LeafLock::lock(kWaitNs) == LeafLock::Entry::kTaken) {
      agent().take_over();
      if (may_look) intake::tell_what_was_put_off();
      agent().let_go();  // what the intakes told is written here, since the leaf lock is ours
      agent().leave();
      LeafLock::unlock();
    }
    if (may_look) IntakeLock::unlock();
    return 0;
  });
}

void stayed() {
  if (!agent().has_outputs_here()) return;
  (void)guest_call([] {
    if (LeafLock::lock(kWaitNs) != LeafLock::Entry::kTaken) return 0;
    agent().take_over();
    agent().stay();
    agent().let_go();
    LeafLock::unlock();
    return 0;
  });
}

}  // namespace jitquill
