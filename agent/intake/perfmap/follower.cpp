#include "agent/intake/perfmap/follower.hpp"

#include <utility>

#include "agent/base/clock.hpp"
#include "agent/base/counters.hpp"
#include "agent/base/safe_copy.hpp"
#include "agent/intake/perfmap/whole_lines.hpp"
#include "agent/intake/told.hpp"

namespace jitquill::intake::perfmap {
namespace {

constexpr std::uint64_t kMs = 1'000'000;
constexpr std::uint64_t kLookEveryNs = 20 * kMs;
constexpr std::uint64_t kWaitNs = 500 * kMs;
constexpr std::uint64_t kEver = ~std::uint64_t{0};
constexpr std::size_t kRoom = 64 * 1024;
constexpr std::size_t kLongestLine = 4096;  // what is read of one that had to wait

}  // namespace

bool Follower::open(const char* path) noexcept {
  close();
  if (!room_) room_ = Block(kRoom);
  if (room_ && file_.open(path) && maps_.open("/proc/self/maps")) return true;
  close();
  return false;
}

void Follower::close() noexcept {
  file_.close();
  maps_.close();
  at_ = looked_ns_ = 0;
  read_all_ns_ = monotonic_ns();
  waiting_.release();
  ranges_.forget();
}

Follower::Progress Follower::step(Budget budget) {
  if (!file_.is_still_ours()) {
    close();
    return Progress::kNothing;
  }
  const std::uint64_t now_ns = monotonic_ns();
  const bool may_look = now_ns - looked_ns_ >= kLookEveryNs;
  const bool has_any = has_news();
  if (may_look && (has_any || waiting_.size() != 0)) look_for_code(now_ns);
  // Those in front first: a later line of the same memory takes their place.
  if (!tell_waiting(now_ns, budget)) return Progress::kMore;
  const Progress progress = has_any ? read_lines(budget) : Progress::kNothing;
  if (progress != Progress::kMore) read_all_ns_ = now_ns;
  return progress;
}

void Follower::last_step(Budget budget) {
  if (!file_.is_still_ours()) return;
  look_for_code(monotonic_ns());
  const bool may_read = tell_waiting(0, budget);
  if (has_news() && (!may_read || read_lines(budget) == Progress::kMore))
    count(Counter::perfmap_bytes_unread, file_.size() - at_);
  look_for_code(monotonic_ns());
  if (!tell_waiting(kEver, budget)) count(Counter::perfmap_lines_untold, waiting_.size());
}

Follower::Progress Follower::read_lines(Budget& budget) {
  WholeLines lines(room_, at_);
  Progress progress = Progress::kNothing;
  while (progress != Progress::kMore && lines.read(file_.descriptor())) {
    progress = Progress::kSome;
    lines.for_each([&](std::string_view line, std::uint64_t place) {
      hear(line, place);
      if (!budget.allows_one_more()) progress = Progress::kMore;
      return progress != Progress::kMore;
    });
  }
  if (lines.passed_over_any()) count(Counter::perfmap_lines_broken);
  at_ = lines.at();
  return progress;
}

void Follower::hear(std::string_view line, std::uint64_t place) {
  const auto read = read_line(line);
  if (!read) return count(Counter::perfmap_lines_broken);
  if (ranges_.has(read->start, read->size)) return tell(*read, read_all_ns_);
  const bool may_wait = waiting_.size() < kMostWaiting;
  if (!may_wait || !waiting_.push({place, read->start, read->size, read_all_ns_, monotonic_ns() + kWaitNs}))
    count(Counter::perfmap_lines_no_code);
}

void Follower::look_for_code(std::uint64_t now_ns) {
  looked_ns_ = now_ns;
  if (maps_.is_still_ours()) ranges_.refresh(maps_.descriptor(), room_);
  has_looked_anew_ = true;
}

// Of the lines that wait, those whose memory has become executable. False if the budget ended: the others
// stay. Then, or at the end of the time that they have, they are given up.
bool Follower::tell_waiting(std::uint64_t now_ns, Budget& budget) {
  if (!std::exchange(has_looked_anew_, false)) return true;
  waiting_.keep_if([&](const Waiting& line) {
    if (ranges_.has(line.start, line.size)) {
      has_looked_anew_ = has_looked_anew_ || !budget.allows_one_more();
      if (!has_looked_anew_) tell(line);
      return has_looked_anew_;
    }
    const bool goes_on = now_ns < line.until_ns;
    if (!goes_on) count(Counter::perfmap_lines_no_code);
    return goes_on;
  });
  return !has_looked_anew_;
}

void Follower::tell(const Waiting& waiting) {
  char text[kLongestLine];
  const long got = raw::call(SYS_pread64, file_.descriptor(), text, sizeof text, waiting.place);
  const std::string_view read{text, got > 0 ? static_cast<std::size_t>(got) : 0};
  const auto line = read_line(read.substr(0, read.find('\n')));
  if (line) tell(*line, waiting.since_ns);
}

void Follower::tell(const MapLine& line, std::uint64_t since_ns) {
  CodeLoad load;
  load.since_ns = since_ns;
  load.address = line.start;
  load.bytes = {reinterpret_cast<const std::uint8_t*>(line.start), static_cast<std::size_t>(line.size)};
  load.name = line.name;
  if (!can_read_ends(load.bytes)) return count(Counter::perfmap_lines_broken);
  (void)tell_load(load);
}

}  // namespace jitquill::intake::perfmap
