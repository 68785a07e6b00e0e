#include "agent/drain/lane_reader.hpp"

#include <algorithm>

namespace jitquill::drain {
namespace {

using lanes::kBlockHeaderSize;
using lanes::kBlockSize;
using lanes::kMoreBytes;
using lanes::Record;
using lanes::RecordKind;

// Losses, and records that are earlier than some that were taken.
constexpr std::size_t kMoreThanMost = 512;
constexpr std::uint64_t kMoreMarkMask = std::uint64_t{0xFF} << 56;

// Where the next record is, if any: behind a block's header.
std::uint32_t past_header(std::uint32_t at) noexcept {
  const std::uint32_t in_block = at % kBlockSize;
  return in_block < kBlockHeaderSize ? at - in_block + kBlockHeaderSize : at;
}
std::uint32_t behind(std::uint32_t at) noexcept {
  return past_header(at + sizeof(Record));
}
// Of the block whose record ends at `at`.
std::uint32_t block_end(std::uint32_t at) noexcept {
  return static_cast<std::uint32_t>((at - 1) / kBlockSize * kBlockSize + kBlockSize);
}
Record& record_at(const ChunkView& chunk, std::uint32_t at) noexcept {
  return *reinterpret_cast<Record*>(chunk.bytes + at);
}
bool is_whole(const ChunkView& chunk, std::uint32_t at) noexcept {
  return record_at(chunk, at).when.load(std::memory_order_acquire) != 0;
}
bool has_whole_behind(const ChunkView& chunk, std::uint32_t at, std::size_t look_ahead) noexcept {
  for (at = behind(at); at < chunk.size && look_ahead != 0; at = behind(at), --look_ahead) {
    if (is_whole(chunk, at)) return true;
  }
  return false;
}

bool is_more(std::uint64_t when, std::uint64_t what) noexcept {
  return lanes::kind_of(what) == RecordKind::kMore && (when & kMoreMarkMask) == lanes::kMoreMark;
}

bool is_of_frames(RecordKind kind) noexcept {
  return (kind >= RecordKind::kEnter && kind <= RecordKind::kLeaveKey) || kind == RecordKind::kEnterWithin ||
         kind == RecordKind::kLeaveWithin;
}

}  // namespace

bool LaneReader::begin(std::size_t most, std::uint64_t since) noexcept {
  taken_.clear();
  payloads_.clear();
  is_sorted_ = true;
  most_ = most;
  since_ = latest_ = since;
  return taken_.reserve(most + kMoreThanMost);
}

inline void LaneReader::put(const Taken& taken) noexcept {
  if (taken.ticks < latest_) [[unlikely]]
    return put_late(taken);
  latest_ = taken.ticks;
  if (!taken_.push(taken)) ++lost_;
}

void LaneReader::put_late(Taken taken) noexcept {
  if (taken.ticks < since_)
    taken.ticks = taken_.empty() ? since_ : taken_.back().ticks;
  else
    is_sorted_ = false;
  if (!taken_.push(taken)) ++lost_;
}

void LaneReader::add_lost(std::uint64_t count, std::uint64_t since_ticks, std::uint64_t ticks) noexcept {
  constexpr std::uint64_t kMost = 0xFFFFFFFF;
  lost_ += count;
  put({ticks, since_ticks, static_cast<std::uint32_t>(std::min(count, kMost)), 0, kLost});
}

// Up to the block's end, or to the first that is no frame's, not whole, or late. False: none.
bool LaneReader::take_frames(const ChunkView& chunk, std::uint32_t& at, std::uint64_t near) noexcept {
  constexpr std::ptrdiff_t kAhead = 1024 / sizeof(Record);  // caches know nothing beyond a page by themselves
  if (taken_.size() >= most_) return false;
  const std::size_t most = std::min(most_ - taken_.size(), (block_end(at + 1) - at) / sizeof(Record));
  const Record* const first = &record_at(chunk, at);
  const Record* const end = first + most;
  const Record* record = first;
  Taken* to = taken_.data() + taken_.size();
  std::uint64_t latest = latest_;
  for (; record != end; ++record) {
    const std::uint64_t when = record->when.load(std::memory_order_acquire);
    const std::uint64_t what = record->what.load(std::memory_order_relaxed);
    const std::uint64_t ticks = lanes::whole_ticks(lanes::low_ticks(when), near);
    const RecordKind kind = lanes::kind_of(what);
    if (when == 0 || !is_of_frames(kind) || ticks < latest) [[unlikely]]
      break;
    latest = ticks;
    *to++ = {ticks, what & lanes::kLow48, lanes::slot_in(when, what), 0, kind};
    __builtin_prefetch(record + kAhead);
  }
  latest_ = latest;
  const auto count = static_cast<std::size_t>(record - first);
  taken_.set_size(taken_.size() + count);
  at += static_cast<std::uint32_t>(count * sizeof(Record));
  return count != 0;
}

bool LaneReader::ends_with_call_stack() const noexcept {
  const Taken* const last = taken_.empty() ? nullptr : &taken_[taken_.size() - 1];
  return last != nullptr && last->kind == RecordKind::kPost && last->event == lanes::kPostCallStack;
}

// It came behind some that are later than it: in the order of time it is among them. Or it is the entry whose
// call stack is the last of them.
bool LaneReader::belongs_to_these(std::uint64_t ticks) const noexcept {
  return (ticks < latest_ || ends_with_call_stack()) && taken_.size() < most_ + kMoreThanMost;
}

LaneReader::Stop LaneReader::take(const ChunkView& chunk, std::uint32_t& at, std::uint64_t near,
                                  std::size_t look_ahead) noexcept {
  for (at = past_header(at); at < chunk.size; at = past_header(at)) {
    if (take_frames(chunk, at, near)) continue;
    const Record& record = record_at(chunk, at);
    const std::uint64_t when = record.when.load(std::memory_order_acquire);
    if (when == 0) return has_whole_behind(chunk, at, look_ahead) ? Stop::kHole : Stop::kNothing;
    const std::uint64_t what = record.what.load(std::memory_order_relaxed);
    const RecordKind kind = lanes::kind_of(what);
    const std::uint64_t ticks = lanes::whole_ticks(lanes::low_ticks(when), near);
    if (taken_.size() >= most_ && !belongs_to_these(ticks)) [[unlikely]]
      return Stop::kFull;
    at += sizeof(Record);
    if (is_of_frames(kind)) [[likely]] {
      put({ticks, what & lanes::kLow48, lanes::slot_in(when, what), 0, kind});
    } else if (is_more(when, what)) {
      ++broken_;  // the rest of a post whose beginning was lost
    } else {
      take_other(chunk, at, ticks, what);
    }
  }
  return Stop::kEnd;
}

void LaneReader::take_other(const ChunkView& chunk, std::uint32_t& at, std::uint64_t ticks,
                            std::uint64_t what) noexcept {
  const RecordKind kind = lanes::kind_of(what);
  if (kind == RecordKind::kPost) return take_post(chunk, at, ticks, what);
  if (kind == RecordKind::kPad)
    at = block_end(at);  // nothing is stored behind it
  else
    ++broken_;
}

// One reservation: its records lie in one block.
void LaneReader::take_post(const ChunkView& chunk, std::uint32_t& at, std::uint64_t ticks,
                           std::uint64_t what) noexcept {
  const auto event = static_cast<std::uint16_t>(what);
  const auto size = static_cast<std::uint16_t>(what >> 16);
  const std::uint64_t begin = payloads_.size();
  const std::size_t more = (size + kMoreBytes - 1) / kMoreBytes;
  const std::uint32_t end = block_end(at);
  const auto begin_at = at - static_cast<std::uint32_t>(sizeof(Record));
  for (std::size_t i = 0; i < more; ++i, at += sizeof(Record)) {
    const std::uint64_t first = at < end ? record_at(chunk, at).when.load(std::memory_order_acquire) : 0;
    const std::uint64_t rest = first != 0 ? record_at(chunk, at).what.load(std::memory_order_relaxed) : 0;
    if (!is_more(first, rest)) {
      payloads_.cut(begin);
      ++broken_;
      return;
    }
    for (std::size_t b = 0; b < kMoreBytes; ++b) {
      const std::uint64_t word =
          b < lanes::kMoreInWhen ? first >> 8 * b : rest >> 8 * (b - lanes::kMoreInWhen);
      if (!payloads_.push(static_cast<std::uint8_t>(word))) return payloads_.cut(begin);
    }
  }
  put({ticks, begin, size, event, RecordKind::kPost});
  if (event != lanes::kPostCallStack) return;
  stack_chunk_ = chunk.bytes;
  stack_at_ = begin_at;
}

bool LaneReader::ends_with_call_stack_of(const ChunkView& chunk, std::uint32_t& at) const noexcept {
  at = stack_at_;
  return ends_with_call_stack() && stack_chunk_ == chunk.bytes;
}

void LaneReader::leave_call_stack() noexcept {
  payloads_.cut(taken_.back().what);
  taken_.set_size(taken_.size() - 1);
}

bool LaneReader::has_begun(const ChunkView& chunk) noexcept {
  return is_whole(chunk, past_header(0));
}

std::span<const std::uint8_t> LaneReader::payload(const Taken& post) const noexcept {
  return payloads_.all().subspan(post.what, post.slot);
}

void LaneReader::skip(const ChunkView& chunk, std::uint32_t& at, std::uint64_t near,
                      std::uint64_t since) noexcept {
  const std::uint64_t before = taken_.empty() ? since : taken_.back().ticks;
  std::uint64_t count = 0;
  for (at = past_header(at); at < chunk.size && !is_whole(chunk, at); at = behind(at)) ++count;
  // What is whole behind it, of a post that has no beginning, is lost with it.
  while (at < chunk.size && is_whole(chunk, at) &&
         is_more(record_at(chunk, at).when, record_at(chunk, at).what))
    at = behind(at);
  const bool has_next = at < chunk.size && is_whole(chunk, at);
  const std::uint64_t next =
      has_next ? lanes::whole_ticks(lanes::low_ticks(record_at(chunk, at).when), near) : before;
  if (count != 0) add_lost(count, before < next ? before : next, next);
}

std::uint32_t LaneReader::clear(const ChunkView& chunk) noexcept {
  std::uint32_t end = past_header(0);
  for (std::uint32_t at = end; at < chunk.size; at = behind(at)) {
    if (!is_whole(chunk, at)) continue;
    const bool is_pad = lanes::kind_of(record_at(chunk, at).what) == RecordKind::kPad;
    end = is_pad ? block_end(at + sizeof(Record)) : at + static_cast<std::uint32_t>(sizeof(Record));
    record_at(chunk, at).when.store(0, std::memory_order_relaxed);
  }
  return end;
}

// Few records are out of order, and by little: a handler's, which interrupted a hook between its reservation
// and its stamp. Memory that somebody damaged may be in any.
std::span<const Taken> LaneReader::sorted() noexcept {
  const auto records = taken_.all();
  if (is_sorted_) return records;
  is_sorted_ = true;
  const auto is_earlier = [](const Taken& a, const Taken& b) { return a.ticks < b.ticks; };
  std::size_t moves_left = 64 * records.size();
  for (std::size_t i = 1; i < records.size(); ++i) {
    if (!is_earlier(records[i], records[i - 1])) continue;
    const Taken late = records[i];
    std::size_t to = i;
    for (; to != 0 && is_earlier(late, records[to - 1]); --to) records[to] = records[to - 1];
    records[to] = late;
    if (i - to > moves_left) {
      std::ranges::stable_sort(records, is_earlier);
      return records;
    }
    moves_left -= i - to;
  }
  return records;
}

}  // namespace jitquill::drain
