// The agent's part that opens outputs: the first folder of a process, and the next one when a folder is full.
#include <algorithm>
#include <cerrno>
#include <string_view>

#include "agent/base/careful_bytes.hpp"
#include "agent/base/clock.hpp"
#include "agent/base/counters.hpp"
#include "agent/base/text_line.hpp"
#include "agent/drain/gdb_registry.hpp"
#include "agent/life/agent.hpp"

namespace jitquill {
namespace {

// Of max_bytes: what stats, the log and the last record of each file may take.
constexpr std::uint64_t kReservedBytes = 12 * 1024;
static_assert(kReservedBytes < kLeastMaxBytes / 2);

// Of stats, with the longest numbers: | name | number | meaning |, a line each.
constexpr std::uint64_t most_statistics_bytes() noexcept {
  constexpr std::uint64_t kMostDigits = 20, kBetween = 3;
  std::uint64_t bytes = 0;
  for (const CounterRow& row : kCounterRows)
    bytes +=
        std::string_view(row.name).size() + kMostDigits + std::string_view(row.meaning).size() + kBetween;
  return bytes;
}
static_assert(most_statistics_bytes() < kReservedBytes);

}  // namespace

// Without a folder there may be outputs all the same: in memory, or in /tmp.
Status Agent::open_outputs() noexcept {
  const int made = place_.open(options_.dir.view(), pid_);
  has_folder_.store(made == 0, std::memory_order_release);
  if (made == 0) {
    log_.open(place_, options_.log.c_str(), options_.verbose, pid_);
    say_other_place();
  } else {
    say_no_output(options_.dir.view(), place_.trouble_with_dir());
    place_.forget();
  }
  first_index_here_ = last_index_ + 1;
  const Outlets outlets{place_, &gdb_registry(), map_folders()};
  const Status opened = sinks_.open(
      options_.formats, {.pid = pid_, .start_ns = monotonic_ns(), .counts_ticks = options_.arch_clock},
      outlets, log_);
  if (made == 0) begin_run_news();
  set_phase(sinks_.any() ? Phase::kAwake : Phase::kOff);
  // The log may have no file either.
  if (!sinks_.any() && run_news_.trouble().empty()) say_no_output("files", text(opened));
  if (!sinks_.any() && !run_news_.trouble().empty()) say_no_run_news();
  return made == -ENOMEM ? Status::kNoMemory : opened;
}

void Agent::begin_run_news() noexcept {
  const Status begun = run_news_.begin(
      options_, {.pid = pid_, .start_ns = monotonic_ns(), .is_forked = is_child_}, place_, sinks_, log_);
  if (!is_done(begun) || !trace_components().is_on()) return;
  if (!is_done(trace_components().put_files(place_.command(), place_))) count(Counter::write_errors);
}

// Once: it may be tried again.
void Agent::say_no_output(std::string_view of_what, const char* why) noexcept {
  if (is_no_place_said_) return;
  is_no_place_said_ = true;
  Message line;
  line.text("no output (").text(of_what).text("): ").text(why).text("; another place may do: dir=");
  say_on_stderr(pid_, line.view());
}

void Agent::say_no_run_news() noexcept {
  if (!is_no_place_said_ && !options_.verbose) say_on_stderr(pid_, run_news_.trouble());
  is_no_place_said_ = true;
}

MapFolders Agent::map_folders() noexcept {
  const bool in_tmp = options_.perfmap_at != PerfmapAt::kDir;
  const bool in_folder = options_.perfmap_at != PerfmapAt::kTmp;
  map_place_.open(log_, in_folder ? nullptr : &place_);
  return {in_tmp ? &map_place_ : nullptr, in_folder ? &place_ : nullptr};
}

// A dir= that was asked for is an option that does not do; the default is nobody's word, and a script that
// runs in a folder of others would say it once for each of its programs.
void Agent::say_other_place() noexcept {
  if (place_.trouble_with_dir() == nullptr) return;
  Message line;
  line.text("output goes to ").text(place_.path()).text(", for dir=").text(options_.dir.view());
  line.text(" cannot be used: ").text(place_.trouble_with_dir());
  (void)log_.say(line.view());  // on stderr too if verbose
  if (options_.dir_was_given && !options_.verbose && !is_other_place_said_) say_on_stderr(pid_, line.view());
  is_other_place_said_ = true;
}

// Live code that is announced again may fill more than half a folder; then the folder may take half of
// max_bytes beside it, so that a full folder always holds news.
void Agent::limit_folder() noexcept {
  if (options_.max_bytes == 0) return;
  Budget& budget = *place_.budget();
  budget.set_limit(
      std::max(options_.max_bytes - kReservedBytes, budget.used() + options_.max_bytes / 2 - kReservedBytes));
}

// Nothing is limited in it until limit_folder().
Status Agent::open_next_folder() noexcept {
  count(Counter::folders_filled);
  place_.budget()->set_limit(Budget::kUnlimited);  // for the last records
  sinks_.hand_over(now(), log_);
  write_statistics();
  log_.close();
  const Status opened = open_outputs();
  if (is_to_be_tried_again(opened)) return opened;
  announce_again();
  return opened;
}

// Some troubles pass, as that all descriptors are taken: then the next announcement opens the folder. What
// it is of, and what lives, is remembered.
bool Agent::is_to_be_tried_again(Status opened) noexcept {
  constexpr std::uint32_t kTries = 3;
  owes_live_code_ = false;
  folders_failed_ = is_done(opened) ? 0 : folders_failed_ + 1;
  if (folders_failed_ == 0 || folders_failed_ == kTries) return false;
  owes_live_code_ = true;
  set_phase(Phase::kDormant);
  return true;
}

// A function larger than max_bytes is written nevertheless, alone with the live code.
Status Agent::load_in_next_folder(CodeLoad& load, Written& written) noexcept {
  code_map_.give_back_twin(written.twin_address, written.twin_size);
  written = {};
  if (const Status opened = open_next_folder(); !is_done(opened)) return opened;
  if (load.index <= last_index_again_) sign(load);
  const Status status = sinks_.load(load, written, log_);
  limit_folder();
  return status;
}

void Agent::announce_again() noexcept {
  code_map_.for_each_kept([this](std::uint64_t address, LiveCode& code) {
    CodeLoad load = code.kept->load();
    load.id = code.id;
    load.address = address;
    load.bytes = {reinterpret_cast<const std::uint8_t*>(address), code.size};
    sign(load);
    prepare(load);
    CarefulBytes careful;  // its runtime may have let go of the memory without a word
    Written written;
    const bool is_read = careful.read(load);
    const Status status =
        is_read ? sinks_.load(load, written, log_, OpenSinks::Reach::kFiles) : Status::kNoMemory;
    if (status == Status::kOff) return;  // all outputs are in memory
    if (!is_done(status)) {
      code_map_.give_back_twin(written.twin_address, written.twin_size);
      return count(Counter::functions_lost);
    }
    count(Counter::functions_announced_again);
    count_as_owner(Counter::bytes_written, written.bytes);
    code_map_.give_back_twin(code.twin_address, code.twin_size);
    code.index = load.index;
    code.tail = written.tail_size;
    code.twin_address = written.twin_address;
    code.twin_size = static_cast<std::uint32_t>(written.twin_size);
  });
  last_index_again_ = last_index_;
}

}  // namespace jitquill
