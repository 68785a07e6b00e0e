// The agent of this process: all its state, and the way in for every call.
//
// agent.cpp has its life, outputs.cpp opens folders and files, news.cpp says what it does with news,
// tracing.cpp which functions are traced.
//
// A call enters by with_agent(): signals held back, leaf lock taken, a fork noticed. Then it is the owner,
// and what is announced from inside it is written before it lets go.
//
// Context   [notify] and [life]: owner's functions only inside with_agent().
// Promises  dormant until the first code news or start(): no file, folder, descriptor or thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "agent/base/demangler.hpp"
#include "agent/base/drain_lock.hpp"
#include "agent/base/guest_call.hpp"
#include "agent/base/leaf_lock.hpp"
#include "agent/base/log.hpp"
#include "agent/drain/open_sinks.hpp"
#include "agent/lanes/code_map.hpp"
#include "agent/lanes/reentry_queue.hpp"
#include "agent/life/coverage.hpp"
#include "agent/life/native_hooks.hpp"
#include "agent/life/options.hpp"
#include "agent/life/output_place.hpp"
#include "agent/life/perf_map_place.hpp"
#include "agent/life/run_news.hpp"
#include "agent/life/trace_components.hpp"
#include "agent/life/wants.hpp"

namespace jitquill {

// What the drain needs.
struct DrainWish {
  bool thread = false;
  bool stacks = false;  // the plugin for call stacks
  explicit operator bool() const noexcept { return thread || stacks; }
};

class Agent {
 public:
  // -- any context --
  Wants wants() const noexcept { return wants_.load(std::memory_order_relaxed); }
  const char* output_folder() const noexcept;
  // Not 0 while an output shows events of the runtime; where it is stays so.
  const std::uint32_t* wanted_events() const noexcept { return &wanted_events_; }
  // False in a child that has told nothing yet, or that shares its parent's memory.
  bool is_here() const noexcept;
  // Of this very process: false in a child that has none yet, or that shares its parent's memory.
  bool has_outputs_here() const noexcept;

  // -- the owner of the leaf lock --
  void take_over() noexcept;  // first thing: notices a new process, reads the options once
  void let_go() noexcept;     // last thing: writes what was announced from inside

  Status start(std::string_view options) noexcept;
  Status begin() noexcept;  // as the first code would
  // The process is sampled from its start on, where that is asked for.
  bool is_to_be_sampled() const noexcept { return wants().samples && wants().run_news; }
  Status stop() noexcept;
  // A line for the log; two are kept until there is one.
  void remark(std::string_view words) noexcept;
  // The process ends, or becomes another program.
  void leave() noexcept;
  // It did not, after leave().
  void stay() noexcept;
  // Once where the drain needs what is not to be made under a lock: start_drain() then.
  DrainWish take_drain_wish() noexcept {
    if (std::exchange(puts_off_drain_, false)) return {};
    const bool has_thread = options_.policy != LanePolicy::kFlight;
    const bool has_stacks = options_.stack.any() || options_.samples_stacks();
    const bool is_due = (has_thread || has_stacks) && run_news_.take_thread_wish();
    return {is_due && has_thread, is_due && has_stacks};
  }

  // Not behind this call: it came where the host's allocator may not be entered. The next one does.
  bool put_off_drain() noexcept {
    puts_off_drain_ = true;
    return options_.policy != LanePolicy::kFlight || options_.stack.any() || options_.samples_stacks();
  }

  // Fill in what only the agent knows: id, time, process, thread.
  Status load(CodeLoad& load) noexcept;
  // As load() of each, with one write for all: of readable code that brings no unwinding. told[i] is what
  // came of loads[i].
  static constexpr std::size_t kMostAtOnce = 128;
  void load_all(std::span<CodeLoad> loads, std::span<Status> told) noexcept;
  Status unload(CodeUnload& unload) noexcept;
  Status move(CodeMove& move) noexcept;
  // Which functions are traced, from now on: the sites of live code are switched. kBadArgument: not a list.
  Status set_hooks(std::string_view patterns) noexcept;
  // A function without code of its own: its id, 0 if it is not to be traced.
  Status add_function(const NamedFunction& function, std::uint64_t& id) noexcept;
  // Of a runtime's own, for OpenJ9 traces. `why`: of kBadArgument.
  Status add_trace_component(std::string_view name, const TraceComponent::Points& points,
                             std::uint32_t& number, const char*& why) noexcept;
  // A library shows names that native functions call; `has_callers`: some are there.
  Status add_native_names(std::atomic<const void*>* targets, std::uint32_t count, bool has_callers) noexcept;
  bool takes_return_addresses() const noexcept { return options_.takes_return_addresses; }
  // A native function was called while the agent was dormant.
  Status wake_for_native() noexcept;
  // Of the code that move() would read at its new place; 0 if there is none.
  std::uint64_t size_to_move(std::uint64_t from) const noexcept;

  // -- the owner, re-entered --
  Status queue_load(CodeLoad& load) noexcept;
  Status queue_unload(CodeUnload& unload) noexcept;
  Status queue_move(CodeMove& move) noexcept;

 private:
  enum class Phase { kUnborn, kDormant, kAwake, kOff, kStopped };

  void set_phase(Phase phase) noexcept;
  void tell_wants() noexcept;
  void adopt_process() noexcept;
  void read_options(std::string_view from_start) noexcept;
  bool may_record() const noexcept;
  Status wake() noexcept;
  MapFolders map_folders() noexcept;
  void say_option_problems() noexcept;

  Status open_outputs() noexcept;
  void begin_run_news() noexcept;
  void say_other_place() noexcept;
  void limit_folder() noexcept;
  void end_outputs() noexcept;
  void write_statistics() noexcept;  // anew each time; nothing if the process announced nothing
  Status open_next_folder() noexcept;
  bool is_to_be_tried_again(Status opened) noexcept;
  void say_no_run_news() noexcept;
  void say_no_output(std::string_view of_what, const char* why) noexcept;
  Status load_in_next_folder(CodeLoad& load, Written& written) noexcept;
  void announce_again() noexcept;  // all live code that is remembered, to the outputs that are files

  std::uint64_t now() const noexcept;  // for all stamps: ns, or ticks with arch_clock=1
  void sign(CodeLoad& load) noexcept;
  Status place_load(CodeLoad& load) noexcept;
  struct Outcome {  // of one of load_all()
    Written written;
    std::uint64_t hash;
    bool is_known;
  };
  void load_as_one(std::span<CodeLoad> loads, std::span<Status> told) noexcept;
  void prepare(CodeLoad& load) noexcept;
  bool is_known(const CodeLoad& load, std::uint64_t hash) noexcept;
  Status reload(CodeLoad& load) noexcept;
  Status record_move(CodeMove& move, CodeLoad& load, const LiveCode& before) noexcept;
  bool add_to_map(const CodeLoad& load, const Written& written, std::uint64_t hash,
                  Status& status) noexcept;  // false: no memory
  bool may_trace() const noexcept;
  void begin_for_native() noexcept;
  bool is_traced(std::string_view name) noexcept;
  bool is_named_by(const NamePatterns& patterns, std::string_view name) noexcept;
  void note_lack_of_stacks(std::string_view name) noexcept;
  sites::SiteList* take_sites(const CodeLoad& load, Status& status) noexcept;
  void switch_sites() noexcept;
  void write_queued(ReentryQueue::Entry& entry) noexcept;
  static Status out_of_memory() noexcept;  // counts it
  void notice_lost_sinks() noexcept;
  void count_load(const CodeLoad& load, Status status, const Written& written) noexcept;

  std::atomic<Wants> wants_{};
  std::uint32_t wanted_events_ = 1;      // until the options are read; runtimes read it
  std::atomic<bool> busy_{false};        // the tables may be half-changed; read only in a child
  std::atomic<bool> has_folder_{false};  // of this process
  std::atomic<std::uint32_t> adopted_pid_{0};
  std::uint64_t last_id_ = 0;
  Outcome outcomes_[kMostAtOnce] = {};  // too many for a host's stack
  std::uint64_t last_index_ = 0;
  std::uint64_t first_index_here_ = 1;  // what was announced before this process's folder was opened is below
  std::uint64_t last_index_again_ = 0;  // of the live code that this folder began with
  Phase phase_ = Phase::kUnborn;
  std::uint32_t pid_ = 0;
  bool is_child_ = false;             // of a fork of a process that the agent lived in
  bool has_more_rights_ = false;      // than its user: setuid, setgid, file capabilities
  bool is_other_place_said_ = false;  // on stderr
  bool is_no_place_said_ = false;
  bool are_problems_said_ = false;        // of the options
  bool owes_live_code_ = false;           // the next folder could not be opened yet
  std::uint32_t folders_failed_ = 0;      // in a row
  std::uint32_t site_troubles_said_ = 0;  // bit per sites::Trouble
  bool is_lack_of_stacks_said_ = false;
  bool puts_off_drain_ = false;
  bool environment_is_usable_ = true;
  FixedText<4096> environment_options_;
  static constexpr std::size_t kMostRemarks = 2;
  FixedText<512> remarks_[kMostRemarks];
  std::size_t remark_count_ = 0;
  Options options_;
  OutputPlace place_;
  PerfMapPlace map_place_;
  Log log_;
  OpenSinks sinks_;
  RunNews run_news_;
  NativeHooks native_hooks_;
  Demangler demangler_;
  CodeMap code_map_;
  CodeCoverage coverage_;
  ReentryQueue queue_;
};

// Exists from before the first call until the process is gone; never destroyed.
Agent& agent() noexcept;

// With no lock held, inside guest_call().
void start_drain(DrainWish wish);

// Runs owner(agent) under the leaf lock; reentered(agent) instead if this thread holds it already.
template <class Owner, class Reentered>
Status with_agent(Owner owner, Reentered reentered) {
  return guest_call([&] {
    if (DrainLock::is_mine()) [[unlikely]]
      return Status::kBusy;  // called back from there: its lock is taken behind the leaf lock only
    if (LeafLock::lock() == LeafLock::Entry::kAlreadyMine) return reentered(agent());
    Agent& the_agent = agent();
    the_agent.take_over();
    const Status status = owner(the_agent);
    the_agent.let_go();
    const DrainWish wish = the_agent.take_drain_wish();
    LeafLock::unlock();
    if (wish) [[unlikely]]
      start_drain(wish);
    return status;
  });
}

}  // namespace jitquill
