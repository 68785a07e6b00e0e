// The bodies of Ring (ring.hpp), for whoever brings other stores: tests look on at each.
//
// Context   as ring.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "writer/openj9/ring.hpp"

namespace jitquill::openj9 {

template <Target kTarget, class Stores>
bool Ring<kTarget, Stores>::open(std::span<std::uint8_t> record, const Clock& clock, const ThreadId& thread,
                                 std::uint64_t ticks) noexcept {
  record_ = record.data();
  first_ = static_cast<std::uint32_t>(put_record_head<kTarget>(thread, record_));
  area_ = static_cast<std::uint32_t>(record.size()) - first_;
  if (!take_memory()) return false;
  ticks_ = ticks;
  // Only the ratio counts, so the stamps of its birth serve for all its life.
  constexpr std::uint64_t kStampedMs = 1000;
  Fields<kTarget>(record_)
      .u64(ticks)
      .u64(ticks)
      .u64(clock.start_ticks + kStampedMs * Clock::kTicksPerMs)
      .u64(clock.start_ms + kStampedMs);
  Fields<kTarget>(record_ + kNewestEntryAt).u32(first_);
  return true;
}

template <Target kTarget, class Stores>
bool Ring<kTarget, Stores>::take_memory() noexcept {
  const std::size_t most_entries = area_ / kSpecialSize + 1;
  return lengths_.grow_to(most_entries, 0) && entry_.grow_to(most_room() + EntryHead<kTarget>::kRoom, 0);
}

// As a reader walks: from the newest length back, to one that is 0 or that reaches around.
template <Target kTarget, class Stores>
bool Ring<kTarget, Stores>::resume(std::span<std::uint8_t> record) noexcept {
  record_ = record.data();
  first_ = static_cast<std::uint32_t>(number_at<kTarget>(record_ + kFirstEntryAt, 4));
  const auto newest = number_at<kTarget>(record_ + kNewestEntryAt, 4);
  if (first_ <= kRecordHead || first_ >= record.size() || newest < first_ || newest >= record.size())
    return false;
  area_ = static_cast<std::uint32_t>(record.size()) - first_;
  if (!take_memory()) return false;
  ticks_ = number_at<kTarget>(record_, 8);
  newest_ = area_ + (newest - first_);
  before_oldest_ = newest_;
  oldest_ = lengths_.size();  // filled from the end to the front
  while (count_ < lengths_.size()) {
    std::uint64_t size = *at(before_oldest_);
    if (size == kLongMark)
      size = kLongMark + (std::uint64_t{*at(before_oldest_ - 1)} << 8 | *at(before_oldest_ - kLongMark));
    if (size == 0 || size > before_oldest_ || newest_ - (before_oldest_ - size) >= area_) break;
    lengths_[--oldest_] = before_oldest_;
    before_oldest_ -= size;
    ++count_;
  }
  oldest_ %= lengths_.size();
  return true;
}

template <Target kTarget, class Stores>
Status Ring<kTarget, Stores>::put(std::uint64_t ticks, const EntryHead<kTarget>& head,
                                  std::span<const std::uint8_t> parameters) noexcept {
  const std::size_t size = EntryHead<kTarget>::size_in_record(head.size_with(parameters.size()));
  if (size > most_room()) return Status::kTooLarge;
  if (ticks >> 32 != ticks_ >> 32) {
    std::uint8_t wrap[kSpecialSize];
    (void)put_wrap<kTarget>(static_cast<std::uint32_t>(ticks_ >> 32), wrap);
    put_bytes(wrap);
  }
  set_newest_ticks(ticks);
  (void)head.put(ticks, parameters, entry_.data());
  put_bytes({entry_.data(), size});
  return Status::kOk;
}

// In three steps: what is touched goes, the bytes, the newest one's place.
template <Target kTarget, class Stores>
void Ring<kTarget, Stores>::put_bytes(std::span<const std::uint8_t> entry) noexcept {
  const std::uint64_t end = newest_ + entry.size();
  if (end >= area_) take_out_up_to(end - area_);
  const auto to_edge = static_cast<std::size_t>(area_ - (newest_ + 1) % area_);
  Stores::bytes(at(newest_ + 1), entry.first(std::min(to_edge, entry.size())));
  if (entry.size() > to_edge) Stores::bytes(at(0), entry.subspan(to_edge));
  std::array<std::uint8_t, 4> place;
  Fields<kTarget>(place.data()).u32(static_cast<std::uint32_t>(at(end) - record_));
  Stores::u32(record_ + kNewestEntryAt, std::bit_cast<std::uint32_t>(place));
  lengths_[(oldest_ + count_++) % lengths_.size()] = end;
  newest_ = end;
}

// All whose bytes, or the length in front of them, lie at or before `place` in the round before.
template <Target kTarget, class Stores>
void Ring<kTarget, Stores>::take_out_up_to(std::uint64_t place) noexcept {
  while (count_ != 0 && before_oldest_ <= place) {
    before_oldest_ = lengths_[oldest_];
    Stores::u8(at(before_oldest_), 0);
    oldest_ = (oldest_ + 1) % lengths_.size();
    --count_;
  }
}

template <Target kTarget, class Stores>
void Ring<kTarget, Stores>::set_newest_ticks(std::uint64_t ticks) noexcept {
  std::array<std::uint8_t, 8> field;
  Fields<kTarget>(field.data()).u64(ticks);
  Stores::u64(record_, std::bit_cast<std::uint64_t>(field));
  ticks_ = ticks;
}

}  // namespace jitquill::openj9
