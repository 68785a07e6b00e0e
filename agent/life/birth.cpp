// Where the library begins and ends in its host: loaded, forked, left.
//
// Context   [life]: the loader's thread, or the thread that forks or exits.
// Promises  being loaded makes no file, thread or descriptor, unless the process is to be sampled. The
//           library is linked with -z nodelete, since code of ours may be on a stack at any time.
#include <pthread.h>

#include <cstdlib>

#include "agent/base/process_page.hpp"
#include "agent/drain/process_drain.hpp"
#include "agent/hooks/name_targets.hpp"
#include "agent/intake/intake_lock.hpp"
#include "agent/intake/lookout.hpp"
#include "agent/life/agent.hpp"
#include "agent/life/leave.hpp"
#include "agent/life/native_hooks.hpp"
#include "agent/stacks/step_lock.hpp"
#include "agent/unwinders/registry.hpp"

namespace jitquill {
namespace {

// An intake may wait for the loader, and the host may fork inside dlopen().
constexpr std::uint64_t kForkWaitNs = 1'000'000'000;

// What prepare keeps for parent and child. Written only by the thread that holds the leaf lock.
struct ForkState {
  HostState host;
  int depth;  // forks from inside our own work (a fault handler that forks): the outer call keeps the lock
  bool has_intakes;
  bool has_registry;
  bool has_steps;
};
constinit ForkState g_fork{};

// Nothing of ours may be half-changed in a child, so fork waits for the locks. Atfork handlers that run
// between ours and the fork, and announce code, are re-entries: queued, and written by the parent.
void before_fork() {
  const HostState host = enter_guest();
  if (LeafLock::is_mine()) {
    ++g_fork.depth;
    leave_guest(host);
    return;
  }
  fork_comes();
  const bool has_intakes = intake::IntakeLock::lock(kForkWaitNs) == OwnerLock::Entry::kTaken;
  const bool has_registry = unwinders::Registry::lock() == OwnerLock::Entry::kTaken;
  (void)LeafLock::lock();
  const bool has_steps = stacks::StepLock::lock();
  g_fork = {host, 0, has_intakes, has_registry, has_steps};
}

void after_fork_in_parent() {
  if (g_fork.depth > 0) {
    --g_fork.depth;
    return;
  }
  const ForkState state = g_fork;
  if (state.has_steps) stacks::StepLock::unlock();
  agent().take_over();
  agent().let_go();
  LeafLock::unlock();
  if (state.has_registry) unwinders::Registry::unlock();
  if (state.has_intakes) intake::IntakeLock::unlock();
  leave_guest(state.host);
}

// The kernel has wiped the process page, unless it cannot: then this does.
void after_fork_in_child() {
  process_page().lock_word.store(0, std::memory_order_relaxed);
  process_page().generation.store(0, std::memory_order_relaxed);
  process_page().unwinders_lock_word.store(0, std::memory_order_relaxed);
  process_page().intakes_lock_word.store(0, std::memory_order_relaxed);
  process_page().drain_lock_word.store(0, std::memory_order_relaxed);
  name_targets::wake_in_child();
  drain::ProcessDrain::let_go_of_streams();
  if (g_fork.depth > 0) {
    --g_fork.depth;
    return;
  }
  if (g_fork.has_steps) stacks::StepLock::forget();
  leave_guest(g_fork.host);
}

// Not in leave(), which may run where nothing can be waited for: what intakes put off may need the host's
// allocator.
[[gnu::destructor]] void on_exit_of_host() {
  intake::last_look();
  leave();
}

[[gnu::constructor]] void on_load() {
  pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
  // quick_exit() runs no destructors. Its handlers run newest first, so ours comes after the host's.
  at_quick_exit(on_exit_of_host);
  (void)with_agent([](Agent& agent) { return agent.is_to_be_sampled() ? agent.begin() : Status::kOk; },
                   [](Agent&) { return Status::kOk; });
}

}  // namespace
}  // namespace jitquill
