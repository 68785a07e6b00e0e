#include "agent/life/agent.hpp"

#include <sys/auxv.h>
#include <cstdlib>

#include "agent/base/arena.hpp"
#include "agent/base/clock.hpp"
#include "agent/base/counters.hpp"
#include "agent/base/process_page.hpp"
#include "agent/base/text_line.hpp"
#include "agent/base/thread_id.hpp"
#include "agent/hooks/mirror.hpp"
#include "agent/lanes/hook_trouble.hpp"
#include "agent/lanes/pool.hpp"
#include "agent/stacks/open_plugin.hpp"
#include "writer/bytes/bytes.hpp"
#include "writer/bytes/decimal.hpp"
#include "writer/bytes/growth.hpp"
#include "writer/bytes/raw_calls.hpp"

namespace jitquill {
namespace {

constinit Agent g_agent;
constinit std::uint32_t g_generations = 0;  // processes that this memory has lived in

// Whoever stops or exits waits for the drain, which may have all of the lanes' memory to write.
constexpr std::uint64_t kDrainWaitNs = 2'000'000'000;

}  // namespace

Agent& agent() noexcept {
  return g_agent;
}

// A child has its parent's folder in memory until it is adopted, and until then none of its own.
const char* Agent::output_folder() const noexcept {
  const bool is_adopted = process_page().generation.load(std::memory_order_relaxed) != 0;
  return is_adopted && has_folder_.load(std::memory_order_acquire) ? place_.path() : nullptr;
}

bool Agent::is_here() const noexcept {
  const bool is_adopted = process_page().generation.load(std::memory_order_relaxed) != 0;
  return is_adopted && adopted_pid_.load(std::memory_order_relaxed) == current_pid();
}

bool Agent::has_outputs_here() const noexcept {
  return output_folder() != nullptr && is_here();
}

void Agent::set_phase(Phase phase) noexcept {
  phase_ = phase;
  tell_wants();
}

void Agent::tell_wants() noexcept {
  if (phase_ == Phase::kUnborn) return;
  const bool is_open = (phase_ == Phase::kDormant || phase_ == Phase::kAwake) && options_.formats != 0;
  Wants wants;
  wants.intakes = options_.intakes;
  wants.is_known = true;
  wants.is_stopped = phase_ == Phase::kStopped;
  wants.code = is_open;
  wants.unwinding = is_open && options_.unwind != UnwindMode::kOff;
  wants.inlining = is_open && options_.inlining;
  wants.sites = may_trace();
  wants.stacks = is_open && options_.stack.any();
  wants.run_news = phase_ == Phase::kDormant && may_record() && RunNews::is_wanted(options_.formats);
  wants.samples = is_open && options_.run.samples_hz != 0 && RunNews::is_wanted(options_.formats);
  wants.map_in_tmp = options_.perfmap_at != PerfmapAt::kDir && writes(options_, "perfmap");
  wants.own_dump = options_.takes_own_dump;
  wants_.store(wants, std::memory_order_relaxed);
  const bool shows_events =
      (wants.run_news || run_news_.is_on()) && RunNews::shows(ShownEvents::kOfRuntimes, options_.formats);
  __atomic_store_n(&wanted_events_, shows_events ? 1 : 0, __ATOMIC_RELAXED);
  native_hooks_.turn(phase_ == Phase::kAwake && wants.sites, phase_ == Phase::kDormant && wants.sites,
                     wants.stacks);
}

void Agent::take_over() noexcept {
  if (process_page().generation.load(std::memory_order_relaxed) == 0) adopt_process();
  busy_.store(true, std::memory_order_relaxed);
  if (phase_ != Phase::kUnborn) return;
  note_standard_error();
  has_more_rights_ = ::getauxval(AT_SECURE) != 0;
  const char* from_environment = ::secure_getenv("JITQUILL_OPTIONS");
  if (from_environment != nullptr) environment_is_usable_ = environment_options_.set(from_environment);
  place_.note_start();
  read_options({});
  set_phase(may_record() ? Phase::kDormant : Phase::kOff);
}

void Agent::let_go() noexcept {
  while (ReentryQueue::Entry* entry = queue_.take()) {
    while (entry != nullptr) {
      ReentryQueue::Entry* next = entry->next;
      write_queued(*entry);
      ReentryQueue::give_back(entry);
      entry = next;
    }
  }
  busy_.store(false, std::memory_order_relaxed);
}

// The first entry in this process. In a child: code that ran before the fork keeps its place in the map,
// since perf gives a child its parent's maps; files, counters and what was queued are the parent's.
void Agent::adopt_process() noexcept {
  const bool is_child = g_generations != 0;
  process_page().generation.store(++g_generations, std::memory_order_relaxed);
  adopted_pid_.store(current_pid(), std::memory_order_relaxed);
  if (!is_child) return;
  is_child_ = true;
  native_hooks_.try_again();
  const bool half_changed = busy_.load(std::memory_order_relaxed);
  reset_counters();
  coverage_.forget();
  if (half_changed) {
    // A raw clone in the middle of another thread's work: neither tables nor arena can be trusted, nor may
    // their destructors run.
    sinks_.forget();
    log_.forget();
    code_map_ = {};
    arena().abandon();
    trace_components().forget();
    count(Counter::tables_discarded);
  } else {
    sinks_.abandon();
    log_.close();
  }
  run_news_.forget(sinks_);
  has_folder_.store(false, std::memory_order_relaxed);
  queue_.forget();
  place_.forget();
  are_problems_said_ = false;
  owes_live_code_ = false;
  folders_failed_ = 0;
  first_index_here_ = last_index_ + 1;
  if (phase_ == Phase::kAwake) set_phase(Phase::kDormant);
  if (!may_record()) {
    sinks_.end(now(), log_);  // what is in memory too: nobody hears of unloads from now on
    set_phase(Phase::kOff);
  }
}

void Agent::read_options(std::string_view from_start) noexcept {
  set_defaults(options_);
  apply(options_, from_start);
  apply(options_, environment_options_.view());  // last: the user's word wins over the runtime's
  if (!environment_is_usable_)
    note_problem(options_, "JITQUILL_OPTIONS", "longer than 4095 bytes; nothing of it is used");
  trace_components().choose(options_.run.openj9_select,
                            RunNews::shows(ShownEvents::kWithTracePoints, options_.formats));
  tell_wants();
  is_other_place_said_ = false;
  is_no_place_said_ = false;
  are_problems_said_ = false;
}

void Agent::say_option_problems() noexcept {
  are_problems_said_ = true;
  if (options_.help) for_each_help_line([](std::string_view line) { say_on_stderr(current_pid(), line); });
  count(Counter::option_errors, options_.problem_count);
  for (std::uint32_t i = 0; i < options_.problem_count && i < Options::kMaxProblems; ++i) {
    Message line;
    line.text("option ")
        .text(options_.problems[i].what.view())
        .text(": ")
        .text(options_.problems[i].why.view());
    say_on_stderr(pid_, line.text("; its default is used").view());
  }
}

// A program with more rights than its user writes nothing: anybody could choose what it writes and where.
bool Agent::may_record() const noexcept {
  return options_.formats != 0 && !has_more_rights_ && (!is_child_ || options_.records_children);
}

Status Agent::wake() noexcept {
  pid_ = current_pid();
  if (!are_problems_said_) say_option_problems();
  if (!may_record()) {
    set_phase(Phase::kOff);
    return Status::kOff;
  }
  const Status opened = open_outputs();
  const bool is_next = owes_live_code_;
  if (is_next && is_to_be_tried_again(opened)) return opened;
  if (is_next || options_.reannounce) announce_again();
  limit_folder();
  if (opened == Status::kOk && options_.problem_count != 0) return Status::kBadOption;
  return opened;
}

void Agent::remark(std::string_view words) noexcept {
  if (phase_ == Phase::kAwake) {
    log_.say_for_sure(words);
    return;
  }
  if (options_.verbose) return say_on_stderr(current_pid(), words);
  if (remark_count_ < kMostRemarks && remarks_[remark_count_].set(words.substr(0, 511))) ++remark_count_;
}

Status Agent::begin() noexcept {
  return phase_ == Phase::kDormant ? wake() : Status::kOk;
}

Status Agent::start(std::string_view options) noexcept {
  if (phase_ == Phase::kAwake) return Status::kOk;
  read_options(options);
  return wake();
}

// The last records are no news: they may go over the limit.
void Agent::end_outputs() noexcept {
  place_.budget()->set_limit(Budget::kUnlimited);
  sinks_.end(now(), log_);
}

Status Agent::stop() noexcept {
  run_news_.end(FrameEnd::kOpen, kDrainWaitNs, place_, sinks_, log_);
  end_outputs();
  write_statistics();
  log_.close();
  set_phase(Phase::kStopped);
  switch_sites();
  code_map_.clear();  // what is announced later goes into another folder, where this code is not
  return Status::kOk;
}

void Agent::leave() noexcept {
  native_hooks_.turn(false, false, false);
  run_news_.end(FrameEnd::kProcessEnd, kDrainWaitNs, place_, sinks_, log_);
  run_news_.leave();
  tell_wants();  // of an exec that fails
  sinks_.leave();
  write_statistics();
}

void Agent::stay() noexcept {
  if (!run_news_.take_left()) return;
  (void)log_.say("an exec failed: the outputs of calls were ended before it, and what runs now is in none");
  set_phase(phase_);
  switch_sites();
}

namespace {

void tell(std::string_view words) {
  const auto remark = [&](Agent& agent) {
    agent.remark(words);
    return Status::kOk;
  };
  (void)with_agent(remark, remark);
}

void open_stacks() {
  std::string_view path;
  if (stacks::open_stacks_plugin(path)) return;
  Message line;
  tell(line.text("cannot use ").text(path).text(": call stacks are told by frame pointers alone").view());
}

}  // namespace

void start_drain(DrainWish wish) {
  if (wish.stacks) open_stacks();
  if (!wish.thread || RunNews::start_thread()) return;
  tell(
      "the process may have no more threads: events of functions are written at its end, as far as memory= "
      "holds them");
}

void Agent::write_statistics() noexcept {
  if (!has_folder_.load(std::memory_order_relaxed) || phase_ == Phase::kStopped) return;
  if (const char* const trouble = lanes::take_trouble()) (void)log_.say(trouble);
  place_.remove("stats");  // of an exec that failed
  const int file = place_.create("stats");
  if (file < 0) return;
  const Coverage coverage = coverage_.most(code_map_);
  set_count(Counter::code_memory_bytes, coverage.code_bytes);
  set_count(Counter::code_memory_known_bytes, coverage.known_bytes);
  set_count(Counter::run_records_without_lane, lanes::Pool::lost_without_lane());
  set_count(Counter::native_calls_without_mirror, mirror::calls_without_mirror());
  set_count(Counter::native_calls_without_slot, mirror::calls_without_slot());
  set_count(Counter::native_returns_broken, mirror::broken_returns());
  Bytes rows;  // not on the stack: a host's thread may have 16 KiB of it
  for (std::size_t i = 0; i < kCounters; ++i) {
    rows.raw(std::string_view(kCounterRows[i].name)).u8('\t');
    rows.raw(Decimal(counted(i)).view()).u8('\t');
    rows.raw(std::string_view(kCounterRows[i].meaning)).u8('\n');
  }
  const long written = raw::write(file, rows.view().data(), rows.view().size());
  const Status status = written < 0 ? refused_growth(written) : Status::kNoSpace;
  raw::close(file);
  if (written == static_cast<long>(rows.size())) return;
  Message line;
  log_.say_for_sure(line.text("stats: not all of it is there: ").text(text(status)).view());
}

}  // namespace jitquill
