#include "agent/intake/perfmap/perfmap.hpp"

#include <pthread.h>

#include <algorithm>

#include "agent/base/own_thread.hpp"
#include "agent/base/thread_id.hpp"
#include "agent/intake/intake.hpp"
#include "agent/intake/intake_lock.hpp"
#include "agent/intake/lookout.hpp"
#include "agent/intake/perfmap/follower.hpp"
#include "agent/intake/told.hpp"
#include "agent/life/agent.hpp"
#include "writer/bytes/raw_calls.hpp"

namespace jitquill::intake {

// The preload tells of an open: there is nothing to attach to.
bool look_for_perfmap(const ElfObject&) {
  return false;
}
void start_perfmap() {}

namespace perfmap {
namespace {

constexpr long kMs = 1'000'000;
constexpr long kQuickest = 2 * kMs;  // while the file grows
constexpr long kSlowest = 20 * kMs;
constexpr long kBreath = kMs / 10;  // there is more: let those in who wait for the lock
constexpr std::size_t kStackSize = 256 * 1024;

// Under the intakes' lock.
struct State {
  Follower follower;
  std::uint32_t pid = 0;  // of the process that the follower and its thread are in
  bool has_thread = false;
};
constinit State g_state{};

bool is_wanted() noexcept {
  return (agent().wanted_intakes() & bit(Id::perfmap)) != 0 && wants_code();
}

void sleep_for(long ns) noexcept {
  const timespec time{0, ns};
  (void)raw::call(SYS_nanosleep, &time, nullptr);
}

long next_wait(Follower::Progress progress, long wait) noexcept {
  if (progress == Follower::Progress::kMore) return kBreath;
  if (progress == Follower::Progress::kSome) return kQuickest;
  return std::min(std::max(wait, kQuickest) * 2, kSlowest);
}

void read_along() {
  (void)pthread_setname_np(pthread_self(), "jitquill");
  long wait = kQuickest;
  for (bool goes_on = true; goes_on;) {
    sleep_for(wait);
    (void)under_intake_lock([&] {
      goes_on = is_wanted() && g_state.follower.is_open();
      if (goes_on) wait = next_wait(g_state.follower.step(), wait);
      if (!goes_on) g_state.has_thread = false;
    });
  }
}

void look_a_last_time() {
  const bool is_here = g_state.pid == current_pid() && g_state.follower.is_open();
  if (is_here && is_wanted()) g_state.follower.last_step();
}

void start_following(const char* path) {
  const std::uint32_t pid = current_pid();
  if (g_state.pid != pid) g_state.has_thread = false;  // a child has none
  g_state.pid = pid;
  if (g_state.has_thread && g_state.follower.is_open()) (void)g_state.follower.step();  // of the file before
  // Code is dated back to here, but only what is mapped while there is a dump may be younger than its code
  // for perf.
  if (!is_done(open_outputs()) || !g_state.follower.open(path)) return;
  put_off(look_a_last_time);
  // Without it the last look finds what is still executable then.
  if (!g_state.has_thread) g_state.has_thread = start_own_thread(read_along, kStackSize);
}

}  // namespace

void opened(const char* path) {
  // Not in a child of vfork, whose memory is its parent's.
  const bool is_new = process_page().generation.load(std::memory_order_relaxed) == 0;
  if (!is_wanted() || (!is_new && !agent().is_here())) return;
  (void)under_intake_lock([&] { start_following(path); });
}

}  // namespace perfmap
}  // namespace jitquill::intake
