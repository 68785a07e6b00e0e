#include "agent/drain/lane_drain.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "agent/base/counters.hpp"

namespace jitquill::drain {
namespace {

const lanes::ChunkHeader& header_at(LaneSource& source, std::uint64_t offset) noexcept {
  return *reinterpret_cast<const lanes::ChunkHeader*>(source.memory().data() + offset);
}
const lanes::Lane& lane_at(LaneSource& source, std::uint32_t row) noexcept {
  return reinterpret_cast<const lanes::Lane*>(source.memory().data() + lanes::kLaneTableAt)[row];
}

}  // namespace

bool LaneDrain::offer(std::uint64_t offset, const lanes::ChunkHeader& chunk) noexcept {
  const std::uint32_t number = chunk.number;
  const bool is_past = number < chunk_ || (number == chunk_ && (is_open_ || at_ == kAtEnd));
  if (is_ended_ || chunk.thread != thread_ || is_past || number == 0) return false;
  const auto all = chunks_.all();
  const auto at = std::ranges::lower_bound(all, number, {}, &Chunk::number);
  if (at != all.end() && at->number == number) return false;
  return chunks_.insert(static_cast<std::size_t>(at - all.begin()), {offset, number, chunk.size, false});
}

// A chunk that was handed out behind the walk's back, and its successor before it came by: all are looked at
// again. What is missing then is not there (overwritten in flight).
bool LaneDrain::is_gap_before(std::uint32_t number, bool is_last) noexcept {
  if (number <= chunk_ + 1 || is_last || number == gap_before_) {
    gap_before_ = 0;
    return false;
  }
  gap_before_ = number;
  return true;
}

// Its records' place in the file may be the journal's; else it begins with it.
bool LaneDrain::open_next(LaneSource& source, bool is_last, LaneReader& reader,
                          const Surroundings& around) noexcept {
  if (is_open_) return true;
  if (chunks_.empty() || is_gap_before(chunks_[0].number, is_last)) return false;
  is_open_ = true;
  const Chunk& next = chunks_[0];
  const lanes::ChunkHeader& header = header_at(source, next.offset);
  if (next.number == chunk_ && at_ != 0) {
    constexpr std::uint32_t kRecord = sizeof(lanes::Record);
    at_ = std::min(at_, next.size) / kRecord * kRecord;  // it may be damaged
    if (!has_begun_) begin_in(header, last_ticks_, around);
    return true;
  }
  const bool is_first = !has_begun_;
  chunk_ = next.number;
  at_ = 0;
  begin_in(header, header.start_ticks, around);
  add_losses(source, header, is_first, reader);
  return true;
}

void LaneDrain::begin_in(const lanes::ChunkHeader& header, std::uint64_t ticks,
                         const Surroundings& around) noexcept {
  has_changed_ = true;
  std::memcpy(name_, header.thread_name, sizeof name_ - 1);
  if (!has_begun_) pairing_.begin(ticks, around);
  has_begun_ = true;
  pairing_.learn_stack(header.stack_low, header.stack_high, StackKind::kOwn, around);
  pairing_.learn_stack(header.signal_stack_low, header.signal_stack_high, StackKind::kSignals, around);
}

// Of records that found no room, and in flight of those in front of the first that is still there.
void LaneDrain::add_losses(LaneSource& source, const lanes::ChunkHeader& header, bool is_first,
                           LaneReader& reader) noexcept {
  if (header.lost_before > told_lost_)
    reader.add_lost(header.lost_before - told_lost_, header.lost_since_ticks, header.start_ticks);
  told_lost_ = 0;
  const lanes::Lane& lane = lane_at(source, row_);
  const std::uint64_t overwritten = lane.overwritten.load(std::memory_order_acquire);
  if (!is_first || overwritten <= told_overwritten_) return;
  const std::uint64_t since = std::max(lane.overwritten_since_ticks.load(), last_ticks_);
  reader.add_lost(overwritten - told_overwritten_, std::min(since, header.start_ticks), header.start_ticks);
  told_overwritten_ = overwritten;
}

// Cleared, so that none of it is overwritten in flight and counted.
void LaneDrain::pass_over(LaneSource& source, const lanes::Lane& lane, bool is_gone,
                          std::uint64_t ticks) noexcept {
  chunk_ = lane.chunk_number.load(std::memory_order_acquire);
  at_ = kAtEnd;
  last_ticks_ = ticks;
  told_lost_ = lane.lost.load(std::memory_order_acquire);
  told_overwritten_ = lane.overwritten.load(std::memory_order_acquire);
  const bool is_left = lanes::is_done_with(lane, chunk_);
  for (std::size_t i = chunks_.size(); i-- > 0;) {
    const Chunk chunk = chunks_[i];
    const std::uint32_t end = LaneReader::clear({source.memory().data() + chunk.offset, chunk.size});
    if (chunk.number == chunk_ && !is_left && !is_gone) {  // its thread fills it on
      at_ = end;
      continue;
    }
    chunks_.erase(i);
    (void)done_.push(chunk);
  }
  is_ended_ = is_gone;
  has_changed_ = true;
}

// Far enough to see past any post now and then; mostly a few records, since idle lanes are many.
std::size_t LaneDrain::look_ahead() const noexcept {
  constexpr std::size_t kNear = 8;
  return hole_since_ns_ != 0 || std::has_single_bit(idle_looks_) ? 2 * lanes::kRecordsPerBlock : kNear;
}

bool LaneDrain::may_skip(const Look& look) noexcept {
  if (look.is_last) return true;
  if (hole_since_ns_ == 0) hole_since_ns_ = look.now_ns | 1;
  return look.now_ns >= hole_since_ns_ + kMostWait_ns;
}

// All of `chunk` but its last call stack's entry is there: the thread is between the two, and they are told
// together. That one may be lost, so it is not waited for longer than for what fills a hole.
bool LaneDrain::leaves_call_stack(LaneSource& source, const ChunkView& chunk, std::uint32_t looked_at,
                                  LaneReader::Stop stop, const Look& look, LaneReader& reader) noexcept {
  std::uint32_t stack_at = 0;
  if (!reader.ends_with_call_stack_of(chunk, stack_at)) return false;
  if (stop != LaneReader::Stop::kNothing && stop != LaneReader::Stop::kEnd) return false;
  if (stop == LaneReader::Stop::kEnd && chunks_.size() > 1 && chunks_[1].number == chunk_ + 1) {
    const Chunk& next = chunks_[1];
    if (LaneReader::has_begun({source.memory().data() + next.offset, next.size})) return false;
  }
  if (stack_at != looked_at) hole_since_ns_ = 0;
  if (may_skip(look)) return false;
  reader.leave_call_stack();
  at_ = stack_at;
  return true;
}

bool LaneDrain::take(LaneSource& source, const Look& look, LaneReader& reader,
                     const Surroundings& around) noexcept {
  const lanes::Lane& lane = lane_at(source, row_);
  tid_ = lane.tid;
  const std::uint32_t at_before = at_;
  bool is_full = false;
  while (!is_full && open_next(source, look.is_last, reader, around)) {
    Chunk& chunk = chunks_[0];
    const ChunkView view{source.memory().data() + chunk.offset, chunk.size};
    const std::size_t ahead = look.is_last ? chunk.size : look_ahead();
    const std::uint32_t hole_at = at_;
    LaneReader::Stop stop = reader.take(view, at_, look.ticks, ahead);
    if (leaves_call_stack(source, view, hole_at, stop, look, reader)) break;
    if (at_ != hole_at) hole_since_ns_ = 0;  // it was filled: what stops us now is another
    if (stop == LaneReader::Stop::kNothing && lanes::is_done_with(lane, chunk.number))
      stop = LaneReader::Stop::kHole;
    if (stop == LaneReader::Stop::kHole) {
      if (!may_skip(look)) break;
      reader.skip(view, at_, look.ticks, last_ticks_);
      hole_since_ns_ = 0;
      chunk.has_hole = has_changed_ = true;
    } else if (stop == LaneReader::Stop::kEnd) {
      if (!done_.push(chunk)) break;
      chunks_.erase(0);
      at_ = kAtEnd;
      is_open_ = false;
      has_changed_ = true;
      hole_since_ns_ = 0;
    } else if (stop == LaneReader::Stop::kNothing) {
      hole_since_ns_ = 0;
      break;
    } else {
      is_full = true;
    }
  }
  if (const auto taken = reader.sorted(); !taken.empty()) last_ticks_ = taken.back().ticks;
  if (at_ != at_before) has_changed_ = true;
  idle_looks_ = has_changed_ ? 0 : idle_looks_ + 1;
  return is_full;
}

void LaneDrain::end(FrameEnd how, std::uint64_t when_ns, const lanes::Lane& lane,
                    const Surroundings& around) noexcept {
  // In flight all of a lane's chunks may have been overwritten.
  const std::uint64_t overwritten = lane.overwritten.load(std::memory_order_acquire);
  const std::uint64_t gone =
      has_begun_ || overwritten < told_overwritten_ ? 0 : overwritten - told_overwritten_;
  const std::uint64_t all_lost = lane.lost.load(std::memory_order_acquire) + gone;
  if (all_lost > told_lost_) {
    const std::uint64_t lost = all_lost - told_lost_;
    const std::uint64_t since = gone == 0 ? lane.lost_since_ticks : lane.overwritten_since_ticks;
    LaneReader last;
    count(Counter::run_records_lost, lost);
    if (last.begin(1)) last.add_lost(lost, since, since);
    pairing_.take(last.sorted(), last, around);
  }
  if (has_begun_) pairing_.end(how, when_ns, around);
  is_ended_ = has_changed_ = true;
}

void LaneDrain::free_chunks(LaneSource& source) noexcept {
  has_changed_ = false;
  for (const Chunk& chunk : done_.all()) {
    if (chunk.has_hole && !is_ended_ && quarantined_.push(chunk)) {
      source.quarantine(chunk.offset);
    } else {
      source.give_back(chunk.offset);
    }
  }
  done_.clear();
  if (!is_ended_) return;
  for (const Chunk& chunk : quarantined_.all()) source.give_back(chunk.offset);
  for (const Chunk& chunk : chunks_.all()) source.give_back(chunk.offset);
  quarantined_.clear();
  chunks_.clear();
}

void LaneDrain::put(bool whole, Bytes& state) noexcept {
  const std::string_view name(name_);
  state.uleb128(row_).uleb128(thread_).uleb128(chunk_).uleb128(at_);
  state.u8(static_cast<std::uint8_t>(has_begun_ | is_ended_ << 1)).uleb128(tid_).uleb128(last_ticks_);
  state.uleb128(told_lost_).uleb128(told_overwritten_);
  state.uleb128(name.size()).raw(name);
  whole ? pairing_.put_all(state) : pairing_.put_changes(state);
}

bool LaneDrain::apply(ByteSource& state) noexcept {
  chunk_ = static_cast<std::uint32_t>(state.uleb128(0xFFFFFFFF));
  at_ = static_cast<std::uint32_t>(state.uleb128(0xFFFFFFFF));
  const std::uint8_t flags = state.u8();
  has_begun_ = (flags & 1) != 0;
  is_ended_ = (flags & 2) != 0;
  tid_ = static_cast<std::uint32_t>(state.uleb128(0xFFFFFFFF));
  last_ticks_ = state.uleb128();
  told_lost_ = state.uleb128();
  told_overwritten_ = state.uleb128();
  const std::string_view name = state.text();
  if (name.size() >= sizeof name_) return false;
  std::memset(name_, 0, sizeof name_);
  name.copy(name_, sizeof name_ - 1);
  return pairing_.apply(state);
}

}  // namespace jitquill::drain
