#include "agent/life/run_news.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <new>

#include "agent/base/clock.hpp"
#include "agent/base/counters.hpp"
#include "agent/base/error_words.hpp"
#include "agent/base/own_arguments.hpp"
#include "agent/base/text_line.hpp"
#include "agent/base/text_pieces.hpp"
#include "agent/drain/open_sinks.hpp"
#include "agent/drain/process_drain.hpp"
#include "agent/hooks/left_alone.hpp"
#include "agent/hooks/mirror.hpp"
#include "agent/lanes/calibration.hpp"
#include "agent/lanes/code_lane.hpp"
#include "agent/lanes/dead_pools.hpp"
#include "agent/lanes/pool.hpp"
#include "agent/life/agent.hpp"
#include "agent/life/in_handler.hpp"
#include "agent/life/record_tap.hpp"
#include "writer/bytes/raw_calls.hpp"
#include "writer/sink/sink.hpp"

namespace jitquill {
namespace {

using drain::ProcessDrain;
using lanes::LaneFolder;
using lanes::Pool;

// Beside the rows of sinks.def: what is told to it is for the drain.
constexpr SinkRow kCodeLaneRow = {"names of functions", true, nullptr, nullptr, lanes::kCodeFile,
                                  ShownEvents::kNone,   "",   ""};

// A thread takes microseconds to get a chunk, unless it is stopped there.
constexpr std::uint64_t kBusyWaitNs = 100'000'000;

// Of what others left that were killed: a process with little memory of its own takes none of it away.
constexpr std::uint64_t kLeastKeptBytes = std::uint64_t{256} << 20;

constexpr lanes::Policy policy_of(LanePolicy policy) noexcept {
  switch (policy) {
    case LanePolicy::kLossless:
      return lanes::Policy::kLossless;
    case LanePolicy::kDrop:
      return lanes::Policy::kDrop;
    case LanePolicy::kFlight:
      break;
  }
  return lanes::Policy::kFlight;
}

// That this process may run on; 0: the kernel does not say.
std::uint32_t count_processors() noexcept {
  std::uint64_t mask[128] = {};  // of 8,192
  const long size = raw::call(SYS_sched_getaffinity, 0, sizeof mask, mask);
  std::uint32_t count = 0;
  for (long i = 0; i < size / static_cast<long>(sizeof mask[0]); ++i)
    count += static_cast<std::uint32_t>(std::popcount(mask[i]));
  return count;
}

// With what outputs say of a process, whose first code is older than they are. `arguments` is where those
// stay.
Origin of_process(const Origin& origin, const OutputPlace& place, const Options& options,
                  Bytes& arguments) noexcept {
  constexpr std::size_t kMostArguments = 0xFFFF;  // of an eventlog's record
  put_own_arguments(arguments, kMostArguments);
  Origin whole = origin;
  whole.parent_pid = static_cast<std::uint32_t>(raw::call(SYS_getppid));
  whole.processors = count_processors();
  whole.start_ns = place.process_start_ns();
  whole.unix_ns = wall_clock_ns() - (monotonic_ns() - whole.start_ns);
  whole.arguments = {reinterpret_cast<const char*>(arguments.view().data()), arguments.size()};
  whole.options = options.words.view();
  return whole;
}

void tell_what_the_drain_said() {
  const auto tell = [](Agent& agent) {
    for (;;) {
      const FixedText<512> said = ProcessDrain::take_said();
      if (said.view().empty()) break;
      agent.remark(said.view());
    }
    return Status::kOk;
  };
  (void)with_agent(tell, tell);
}

}  // namespace

bool RunNews::is_wanted(std::uint32_t formats) noexcept {
  const auto rows = sink_rows();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if ((formats >> i & 1) != 0 && rows[i].make_run != nullptr) return true;
  }
  return false;
}

bool RunNews::shows(ShownEvents events, std::uint32_t formats) noexcept {
  const auto rows = sink_rows();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if ((formats >> i & 1) != 0 && rows[i].events >= events) return true;
  }
  return false;
}

Status RunNews::refuse(Log& log, std::string_view what, std::string_view why) noexcept {
  Message line;
  line.text("no events of functions: ").text(what).text(": ").text(why);
  (void)log.say(line.view());
  (void)trouble_.set(first(line.view(), 511));
  return Status::kNoOutput;
}

// A pool is for the life of a process: a later start goes on with the one that is there, its policy and size.
Status RunNews::make_lanes(const Options& options, std::uint32_t pid, const OutputPlace& place,
                           Log& log) noexcept {
  if (Pool::is_started()) {
    Pool::set_output_folder(place.path());
    return Status::kOk;
  }
  if (!lanes::have_steady_ticks()) {
    return refuse(log, "clock", "this CPU's counter (TSC) is not steady, so that its ticks are no times");
  }
  const LaneFolder::Places places{.runtime_dir = place.runtime_dir(), .output_folder = place.path()};
  if (const int made = folder_.make(places, pid); made != 0) {
    return refuse(log, "/dev/shm, $XDG_RUNTIME_DIR and the output folder take no folder", error_words(made));
  }
  lanes::sweep_dead_pools(folder_.parent(), std::max(options.memory_bytes, kLeastKeptBytes));
  const int started = Pool::start({.folder = folder_.path(),
                                   .output_folder = place.path(),
                                   .memory_bytes = options.memory_bytes,
                                   .policy = policy_of(options.policy)});
  if (started == 0) return Status::kOk;
  Message why;
  why.text(error_words(started));
  if (started == -ENOMEM || started == -ENOSPC) why.text("; a smaller memory= may do");
  const Status refused = refuse(log, folder_.path(), why.view());
  folder_.remove();
  return refused;
}

// With what a child inherited from its parent, whose functions it may still run.
Status RunNews::begin_code_lane(lanes::CodeLane& code_lane, const Origin& origin, Log& log) noexcept {
  Status begun = code_lane.begin(origin, Outlets(files_));
  if (!is_done(begun) || !inherited_.is_open()) return begun;
  const Status put = code_lane.put_all_of(inherited_);
  inherited_.close();
  if (is_done(put)) return begun;
  code_lane.abandon();  // it may end inside a record
  files_.remove(lanes::kCodeFile);
  begun = code_lane.begin(origin, Outlets(files_));
  const char* const why =
      put == Status::kNotFound ? "the child closed the descriptor they are read by" : text(put);
  Message line;
  line.text("functions from before the fork have no names in the outputs of calls: ").text(why);
  (void)log.say(line.view());
  return begun;
}

// The sinks own the code lane from join() on.
Status RunNews::open_drain(const Options& options, const Origin& origin, OutputPlace& place, OpenSinks& sinks,
                           Log& log) noexcept {
  auto* const code_lane = new (std::nothrow) lanes::CodeLane;
  if (code_lane == nullptr) return Status::kNoMemory;
  if (options.stack.any() || options.samples_stacks()) code_lane->keep_tables();
  Status status = begin_code_lane(*code_lane, origin, log);
  if (is_done(status) && !sinks.join(*code_lane, kCodeLaneRow)) status = Status::kNoMemory;
  if (!is_done(status)) {
    delete code_lane;
    return status;
  }
  Bytes arguments;
  FixedText<StreamTarget::kMostPath> stream_path;
  (void)stream_path.set(place.expand(options.stream.path.view(), origin.pid));
  RunSettings run = options.run;
  run.openj9_taker = &record_tap::taker();
  return ProcessDrain::open({.output = &place,
                             .lane_folder_path = folder_.path(),
                             .lane_folder = files_.handle(),
                             .code_lane = files_.open_to_read(lanes::kCodeFile),
                             .outputs = {.formats = options.formats,
                                         .origin = of_process(origin, place, options, arguments),
                                         .command = place.command(),
                                         .run = run,
                                         .limits = {options.max_bytes, options.generations},
                                         .stream = &options.stream,
                                         .stream_path = stream_path.c_str()},
                             .has_native_functions = has_native_functions_,
                             .patterns = options.hooks.view(),
                             .stacks = options.stack.view(),
                             .unwanted = {left_alone::add, left_alone::clear},
                             .demangles = options.demangle,
                             .sampling = {.hz = options.run.samples_hz,
                                          .stack_bytes = options.sample_stack_bytes,
                                          .by_cycles = options.run.samples_by_cycles},
                             .return_address = mirror::return_address},
                            tell_what_the_drain_said);
}

Status RunNews::begin(const Options& options, const Origin& origin, OutputPlace& place, OpenSinks& sinks,
                      Log& log) noexcept {
  trouble_ = {};
  if (options.run.samples_hz != 0 && !is_wanted(options.formats)) (void)log.say(drain::kNobodyShowsSamples);
  if (is_on_ || !is_wanted(options.formats)) return Status::kOff;
  if (const Status made = make_lanes(options, origin.pid, place, log); !is_done(made)) return made;
  if (const int opened = files_.open(folder_.path()); opened != 0)
    return refuse(log, folder_.path(), error_words(opened));
  files_.remove(lanes::kCodeFile);  // of an earlier start
  if (options.run.samples_hz != 0 && options.policy == LanePolicy::kFlight)
    (void)log.say("sample=: nothing is sampled, since policy=flight has no thread that could read samples");
  const Status opened = open_drain(options, origin, place, sinks, log);
  if (!is_done(opened)) {
    const bool has_lane = sinks.joined(kCodeLaneRow) != nullptr;
    sinks.leave(kCodeLaneRow);
    files_.close();
    return refuse(log, has_lane ? "their outputs" : folder_.path(), text(opened));
  }
  folders::link(place.path(), LaneFolder::kLinkName, folder_.path(), origin.pid);
  Pool::switch_on();
  is_on_ = true;
  return opened;
}

bool RunNews::take_thread_wish() noexcept {
  if (!is_on_ || !ProcessDrain::has_thread_wish() || is_in_handler()) return false;
  ProcessDrain::take_thread_wish();
  return true;
}

void RunNews::set_patterns(std::string_view list) noexcept {
  if (is_on_) ProcessDrain::set_patterns(list);
}

bool RunNews::start_thread() noexcept {
  return ProcessDrain::start_thread();
}

void RunNews::tell_function(OpenSinks& sinks, std::uint64_t id, const NamedFunction& function) noexcept {
  auto* const code_lane = static_cast<lanes::CodeLane*>(sinks.joined(kCodeLaneRow));
  if (code_lane == nullptr) return;
  const Status told = code_lane->function(id, function.name, function.file, function.line);
  if (!is_done(told)) count(Counter::write_errors);
}

void say_losses(Log& log) noexcept {
  const std::uint64_t lost = counted(static_cast<std::size_t>(Counter::run_records_lost));
  if (lost == 0) return;
  Message line;
  line.text("events of functions: ")
      .number(lost)
      .text(
          " are lost, for which there was no room in shared memory, or that their threads did not finish; "
          "the outputs say where. "
          "A larger memory= has more room, fewer hooks= need less");
  (void)log.say(line.view());
}

// The pool stays mapped, since a thread may stand in a hook.
void RunNews::end(FrameEnd how, std::uint64_t wait_ns, OutputPlace& place, OpenSinks& sinks,
                  Log& log) noexcept {
  if (!is_on_) return;
  Pool::switch_off();
  (void)Pool::await_busy(kBusyWaitNs);
  is_on_ = false;
  is_left_ = ProcessDrain::finish(how, wait_ns, log) == Status::kBusy;
  record_tap::end();
  say_losses(log);
  sinks.leave(kCodeLaneRow);
  files_.close();
  if (!is_left_) place.remove(LaneFolder::kLinkName);
}

void RunNews::leave() noexcept {
  if (is_on_ || is_left_ || !Pool::is_started()) return;
  Pool::set_ended();
  has_left_ = *folder_.path() != '\0';
  folder_.remove();
}

void RunNews::forget(OpenSinks& sinks) noexcept {
  ProcessDrain::forget();
  record_tap::forget();
  left_alone::clear();
  Pool::switch_off();
  if (auto* const code_lane = static_cast<lanes::CodeLane*>(sinks.joined(kCodeLaneRow)))
    code_lane->hand_on(inherited_);
  sinks.leave(kCodeLaneRow);
  files_.close();
  folder_.forget();
  is_on_ = is_left_ = has_left_ = false;
}

}  // namespace jitquill
