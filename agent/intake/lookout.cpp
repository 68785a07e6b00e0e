#include "agent/intake/lookout.hpp"

#include <atomic>
#include <cstdint>
#include <iterator>

#include "agent/base/loaded_objects.hpp"
#include "agent/base/plugin_library.hpp"
#include "agent/base/thread_id.hpp"
#include "agent/intake/intake.hpp"
#include "agent/intake/intake_lock.hpp"
#include "agent/life/agent.hpp"

namespace jitquill::intake {
namespace {

// Under the intakes' lock.
constinit LoaderState g_seen{};
constinit bool g_looked_closely = false;  // makes_code() at the last look
constexpr std::size_t kMostFollowers = 8;
constinit Follower g_followers[kMostFollowers]{};
constinit std::size_t g_follower_count = 0;

constexpr std::uint64_t kLastWaitNs = 100'000'000;
using Tell = void (*)();
constinit Tell g_tell[8] = {};  // of intakes that ever put something off
constinit std::size_t g_tell_count = 0;

constinit std::atomic<std::uint32_t> g_put_off_pid{0};
constinit std::atomic<bool> g_makes_code{false};

void look_at_all(LoaderState state, std::uint32_t wanted) {
  const auto all = rows();
  g_looked_closely = makes_code();
  std::uint32_t found = 0;
  for_each_loaded_object([&](const ElfObject& object) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      if ((wanted >> i & 1) != 0 && all[i].look(object)) found |= 1u << i;
    }
  });
  g_seen = state;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if ((found >> i & 1) != 0) all[i].start();
  }
}

}  // namespace

void look_around() {
  const std::uint32_t wanted = agent().wants().intakes;
  if (wanted == 0 || !agent().wants().code) return;
  const LoaderState state = loader_state();
  // Not waited for: who is called from inside dlopen() holds the loader's lock, for which somebody may wait
  // who holds ours. Whoever holds it looks, or the next call does.
  (void)under_intake_lock(
      [&] {
        note_own_folder();
        if (!(state == g_seen) || g_looked_closely != makes_code()) look_at_all(state, wanted);
        for (std::size_t i = 0; i < g_follower_count; ++i) g_followers[i].look();
      },
      0);
}

void look_around_in_jit() {
  g_makes_code.store(true, std::memory_order_relaxed);
  look_around();
}

bool makes_code() noexcept {
  return g_makes_code.load(std::memory_order_relaxed);
}

void last_look() {
  if (agent().wants().intakes == 0 || !agent().wants().code) return;
  (void)guest_call([] {
    if (IntakeLock::lock(kLastWaitNs) != OwnerLock::Entry::kTaken) return false;
    for (std::size_t i = 0; i < g_follower_count; ++i) g_followers[i].last_look();
    IntakeLock::unlock();
    return true;
  });
}

void follow(const Follower& follower) noexcept {
  if (g_follower_count < kMostFollowers) g_followers[g_follower_count++] = follower;
}

void put_off(void (*tell)()) noexcept {
  g_put_off_pid.store(current_pid(), std::memory_order_relaxed);
  for (std::size_t i = 0; i < g_tell_count; ++i) {
    if (g_tell[i] == tell) return;
  }
  if (g_tell_count < std::size(g_tell)) g_tell[g_tell_count++] = tell;
}

void tell_what_was_put_off() {
  for (std::size_t i = 0; i < g_tell_count; ++i) g_tell[i]();
}

bool has_put_off() noexcept {
  const std::uint32_t pid = g_put_off_pid.load(std::memory_order_relaxed);
  return pid != 0 && pid == current_pid();
}

}  // namespace jitquill::intake
