#include "agent/drain/process_drain.hpp"

#include <algorithm>
#include <atomic>
#include <new>

#include "agent/base/arena.hpp"
#include "agent/base/counters.hpp"
#include "agent/base/drain_lock.hpp"
#include "agent/base/fixed_text.hpp"
#include "agent/base/own_thread.hpp"
#include "agent/base/text_pieces.hpp"
#include "agent/drain/self_cost.hpp"
#include "agent/lanes/calibration.hpp"
#include "agent/lanes/hook_trouble.hpp"
#include "agent/lanes/pool.hpp"
#include "agent/stacks/open_plugin.hpp"

namespace jitquill::drain {
namespace {

constexpr std::size_t kStackSize = 256 * 1024;
constexpr std::uint64_t kShortPauseNs = 10'000'000;  // while events come: that old they get in the outputs
constexpr std::uint64_t kLongPauseNs = 100'000'000;  // otherwise
constexpr unsigned kEmptyPasses = 100;               // before a long pause

class PoolLanes final : public LaneSource {
 public:
  std::span<std::uint8_t> memory() noexcept override { return lanes::Pool::memory(); }
  void give_back(std::uint64_t offset) noexcept override { lanes::Pool::give_back(offset); }
  void quarantine(std::uint64_t offset) noexcept override { lanes::Pool::quarantine(offset); }
  bool is_thread_gone(std::uint32_t row) noexcept override { return lanes::Pool::is_thread_gone(row); }
  void free_row(std::uint32_t row) noexcept override { lanes::Pool::free_row(row); }
};

using Words = FixedText<512>;

// What is to be said, the first first. On a full disk each output has its word, that it is off too.
struct Said {
  static constexpr std::size_t kMost = std::size_t{2} * RunOutputs::kMost + 3;
  void add(std::string_view words) noexcept {
    if (count < kMost) (void)lines[count++].set(first(words, 511));
  }
  Words take() noexcept {
    if (count == 0) return {};
    const Words taken = lines[0];
    for (std::size_t i = 1; i < count; ++i) lines[i - 1] = lines[i];
    --count;
    return taken;
  }
  void clear() noexcept { count = 0; }  // not by assignment: a host's stack may be small
  Words lines[kMost];
  std::size_t count = 0;
};

// All under the drain's lock, but the wish, which is under the leaf lock.
struct State {
  Drain* drain = nullptr;  // in `room`; null: none is open
  alignas(Drain) unsigned char room[sizeof(Drain)];
  Said said;  // for the log, whose lock may not be taken here
  void (*tell)() = nullptr;
  SelfCost cost;                // of `drain`
  std::uint64_t waited_ns = 0;  // by threads, so much of it is counted
  bool has_thread = false;
  bool wants_thread = false;
};
constinit State g_state{};
constinit PoolLanes g_lanes;

void say(std::string_view words) noexcept {
  g_state.said.add(words);
}

// Not by the drain's thread on its own: a process that ends meanwhile would say nothing of it.
void take_trouble() noexcept {
  if (g_state.said.count == Said::kMost) return;
  if (const char* const trouble = lanes::take_trouble()) say(trouble);
}

void count_waits() noexcept {
  constexpr std::uint64_t kNsPerUs = 1'000;
  const std::uint64_t us = (lanes::Pool::waited_ns() - g_state.waited_ns) / kNsPerUs;
  g_state.waited_ns += us * kNsPerUs;
  count(Counter::run_waited_us, us);
}

void close_drain() noexcept {
  g_state.drain->~Drain();
  g_state.drain = nullptr;
}

struct Round {
  Pass pass;
  std::uint64_t longest_pause_ns = kLongPauseNs;
  bool is_over = false;
  bool has_said = false;
};

Round one_round() noexcept {
  Round round;
  (void)DrainLock::lock();
  round.is_over = g_state.drain == nullptr;
  if (round.is_over) {
    g_state.has_thread = false;
  } else {
    g_state.drain->set_own_thread();
    g_state.drain->start_sampling();  // of a start for which there was a thread already
    const Now now = lanes::read_clocks();
    round.pass = g_state.cost.of([&] { return g_state.drain->pass(now); });
    g_state.cost.tell(*g_state.drain, now.ns, false);
    round.longest_pause_ns = std::min(g_state.drain->longest_pause_ns(), kLongPauseNs);
    count_waits();
    take_trouble();
  }
  round.has_said = g_state.said.count != 0;
  DrainLock::unlock();
  return round;
}

// A process whose threads have all ended, its first by pthread_exit(), is over when ours has.
void step_down() noexcept {
  (void)DrainLock::lock();
  g_state.has_thread = false;
  DrainLock::unlock();
}

void run() noexcept {
  std::uint32_t seen = 0;
  unsigned empty_passes = 0;
  for (;;) {
    const Round round = one_round();
    if (round.has_said) g_state.tell();
    if (round.is_over) return;
    lanes::Pool::keep_spare();
    if (round.pass.has_more) continue;
    empty_passes = round.pass.records == 0 ? empty_passes + 1 : 0;
    if (empty_passes >= kEmptyPasses && is_last_thread()) return step_down();
    const bool is_busy = empty_passes < kEmptyPasses;
    const std::uint64_t pause_ns =
        is_busy ? std::min(kShortPauseNs, round.longest_pause_ns) : round.longest_pause_ns;
    seen = lanes::Pool::wait_for_work(seen, pause_ns, is_busy);
  }
}

}  // namespace

Status ProcessDrain::open(DrainSettings settings, void (*tell)()) noexcept {
  settings.lanes = &g_lanes;
  settings.say = say;
  settings.is_this_process = true;
  (void)DrainLock::lock();
  g_state.said.clear();
  g_state.tell = tell;
  if (g_state.drain != nullptr) {  // it did not let go in time, when it was to finish
    (void)g_state.drain->finish(FrameEnd::kOpen, lanes::read_clocks());
    close_drain();
  }
  g_state.drain = new (g_state.room) Drain;
  g_state.cost = {};
  const Status opened = g_state.drain->open(settings, lanes::read_clocks());
  if (!is_done(opened)) close_drain();
  g_state.wants_thread = is_done(opened) && !g_state.has_thread;
  DrainLock::unlock();
  return opened;
}

FixedText<512> ProcessDrain::take_said() noexcept {
  (void)DrainLock::lock();
  const Words said = g_state.said.take();
  DrainLock::unlock();
  return said;
}

void ProcessDrain::set_patterns(std::string_view list) noexcept {
  (void)DrainLock::lock();
  if (g_state.drain != nullptr) g_state.drain->set_patterns(list);
  DrainLock::unlock();
}

namespace {

template <class Call>
void with_drain(Call call) noexcept {
  constexpr std::uint64_t kWaitNs = 1'000'000'000;
  if (DrainLock::lock(kWaitNs) != OwnerLock::Entry::kTaken) return;
  if (g_state.drain != nullptr) call(*g_state.drain);
  DrainLock::unlock();
}

}  // namespace

void ProcessDrain::objects_go() noexcept {
  with_drain([](Drain& drain) { drain.look_at_modules(); });
}

void ProcessDrain::objects_went(std::uint64_t now_ns) noexcept {
  with_drain([&](Drain& drain) { drain.end_gone_modules(now_ns); });
}

bool ProcessDrain::has_thread_wish() noexcept {
  return g_state.wants_thread;
}

void ProcessDrain::take_thread_wish() noexcept {
  g_state.wants_thread = false;
}

// Samples are taken from now on, not from when the thread gets a CPU, which on a busy machine takes 100 ms.
bool ProcessDrain::start_thread() noexcept {
  (void)DrainLock::lock();
  const bool is_needed = g_state.drain != nullptr && !g_state.has_thread;
  if (is_needed) {
    g_state.has_thread = true;
    g_state.drain->start_sampling();
  }
  DrainLock::unlock();
  if (!is_needed || start_own_thread(run, kStackSize)) return true;
  (void)DrainLock::lock();
  g_state.has_thread = false;
  DrainLock::unlock();
  return false;
}

Status ProcessDrain::finish(FrameEnd how, std::uint64_t wait_ns, Log& log) noexcept {
  if (DrainLock::lock(wait_ns) != OwnerLock::Entry::kTaken) return Status::kBusy;
  Status finished = Status::kOk;
  const bool is_open = g_state.drain != nullptr;
  if (g_state.drain != nullptr) {
    const auto pass = [] { return g_state.drain->pass(lanes::read_clocks()); };
    while (g_state.cost.of(pass).has_more) {
    }
    g_state.cost.tell(*g_state.drain, monotonic_ns(), true);
    finished = g_state.drain->finish(how, lanes::read_clocks());
    count_waits();
    close_drain();
  }
  DrainLock::unlock();
  while (is_open) {
    const Words line = take_said();
    if (line.view().empty()) break;
    log.say_for_sure(line.view());
  }
  return finished;
}

void ProcessDrain::let_go_of_streams() noexcept {
  if (g_state.drain != nullptr) g_state.drain->let_go_of_streams();
}

// What is under the lock may be half-changed, and is nobody's now: no destructor runs.
void ProcessDrain::forget() noexcept {
  if (g_state.drain != nullptr) g_state.drain->close_files();
  g_state.drain = nullptr;
  g_state.said.clear();
  g_state.has_thread = g_state.wants_thread = false;
  g_state.waited_ns = 0;
  stacks::drop_plugin_cut_off();
  drain_arena().abandon();
}

}  // namespace jitquill::drain
