#include "writer/openj9/record.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "writer/bytes/names.hpp"
#include "writer/openj9/text.hpp"

namespace jitquill::openj9 {
namespace {

constexpr std::size_t kWrittenAt = 16;

// The formatter reads it as ASCII.
std::size_t put_name(std::string_view name, std::uint8_t* at) noexcept {
  Bytes out({at, kMostThreadName});
  (void)put_ascii(out, name, kMostThreadName);
  return out.size();
}

}  // namespace

// | newest entry u64 | oldest u64 | written u64, in ms u64 | thread u64, u64, u64 | first entry u32 | newest
// u32 | name |
template <Target kTarget>
std::size_t put_record_head(const ThreadId& thread, std::uint8_t* record) noexcept {
  const std::size_t first = kRecordHead + put_name(thread.name, record + kRecordHead);
  Fields<kTarget> fields(record);
  fields.zeros(4 * sizeof(std::uint64_t)).u64(thread.key).u64(thread.tid).u64(0);
  fields.u32(static_cast<std::uint32_t>(first)).u32(0);
  return first;
}

template <Target kTarget>
Record<kTarget>::~Record() {
  ::operator delete(bytes_);
}

template <Target kTarget>
bool Record<kTarget>::open(std::uint32_t size, const Clock& clock, const ThreadId& thread) noexcept {
  bytes_ = static_cast<std::uint8_t*>(::operator new(size + EntryHead<kTarget>::kRoom, std::nothrow));
  if (bytes_ == nullptr) return false;
  std::memset(bytes_, 0, size);
  size_ = size;
  clock_ = clock;
  thread_ = thread;
  rename(thread.name);
  return true;
}

template <Target kTarget>
void Record<kTarget>::rename(std::string_view name) noexcept {
  const std::string_view kept = first_characters(name, kMostThreadName - 1);
  if (!kept.empty()) std::memcpy(name_, kept.data(), kept.size());
  thread_.name = {name_, kept.size()};
  if (is_empty_) first_ = static_cast<std::uint32_t>(kRecordHead + kept.size() + 1);
}

// The length in front of the first entry is 0; a loss is the first of all.
template <Target kTarget>
void Record<kTarget>::begin(std::uint64_t ticks) noexcept {
  first_ = static_cast<std::uint32_t>(put_record_head<kTarget>(thread_, bytes_));
  at_ = first_;
  bytes_[at_++] = 0;
  if (lost_ != 0) at_ = offset_of(put_loss<kTarget>(lost_, bytes_ + at_));
  lost_ = 0;
  told_ = 0;
  oldest_ = ticks;
  newest_ = ticks;
  is_empty_ = false;
}

template <Target kTarget>
Status Record<kTarget>::make_room(std::uint64_t ticks, std::size_t size, Bytes& out) noexcept {
  if (size > most_room()) return Status::kTooLarge;
  const Status status = close(out);
  if (status == Status::kOk) begin(ticks);
  return status;
}

template <Target kTarget>
Status Record<kTarget>::lose(std::uint32_t records, Bytes& out) noexcept {
  const Status status = close(out);
  if (status != Status::kOk) return status;
  lost_ = records > ~std::uint32_t{0} - lost_ ? ~std::uint32_t{0} : lost_ + records;
  return Status::kOk;
}

template <Target kTarget>
Status Record<kTarget>::close(Bytes& out) noexcept {
  if (is_empty_) return Status::kOk;
  std::memset(bytes_ + at_, 0, size_ - at_);
  const auto [ticks, ms] = clock_.stamp(newest_);
  Fields<kTarget>(bytes_).u64(newest_).u64(oldest_);
  Fields<kTarget>(bytes_ + kWrittenAt).u64(ticks).u64(ms);
  Fields<kTarget>(bytes_ + kNewestEntryAt).u32(at_ - 1);
  out.raw({bytes_, size_});
  if (out.failed()) return Status::kNoMemory;
  is_empty_ = true;
  return Status::kOk;
}

template <Target kTarget>
void Record<kTarget>::drop(std::uint32_t records) noexcept {
  constexpr std::uint32_t kMost = ~std::uint32_t{0};
  const std::uint32_t more = is_empty_ ? records : records == kMost ? kMost : records + 1;
  lost_ = more > kMost - lost_ ? kMost : lost_ + more;
  is_empty_ = true;
}

// | is empty u8 | lost | newest u64 | name | of one with entries: oldest u64, end, from, size, bytes |
template <Target kTarget>
void Record<kTarget>::put_state(bool whole, Bytes& state) noexcept {
  state.u8(is_empty_ ? 1 : 0).uleb128(lost_).u64(newest_);
  state.uleb128(thread_.name.size()).raw(thread_.name);
  if (is_empty_) return;
  const std::uint32_t from = whole ? 0 : told_;
  state.u64(oldest_).uleb128(at_).uleb128(from).uleb128(at_ - from).raw({bytes_ + from, at_ - from});
  told_ = at_;
}

template <Target kTarget>
bool Record<kTarget>::apply(ByteSource& state) noexcept {
  is_empty_ = true;
  const bool was_empty = state.u8() != 0;
  lost_ = static_cast<std::uint32_t>(state.uleb128(~std::uint32_t{0}));
  newest_ = state.u64();
  rename(state.text(state.uleb128(kMostThreadName - 1)));
  if (was_empty || state.failed()) return !state.failed();
  is_empty_ = false;
  oldest_ = state.u64();
  at_ = static_cast<std::uint32_t>(state.uleb128(size_));
  const auto from = static_cast<std::uint32_t>(state.uleb128(size_));
  const auto bytes = state.raw(state.uleb128(size_));
  if (state.failed() || from > at_ || bytes.size() != at_ - from || at_ <= kRecordHead) return false;
  std::memcpy(bytes_ + from, bytes.data(), bytes.size());
  first_ = static_cast<std::uint32_t>(number_at<kTarget>(bytes_ + kFirstEntryAt, 4));
  told_ = at_;
  return first_ < at_;
}

template class Record<Target{std::endian::little, 4}>;
template class Record<Target{std::endian::little, 8}>;
template class Record<Target{std::endian::big, 4}>;
template class Record<Target{std::endian::big, 8}>;
template std::size_t put_record_head<Target{std::endian::little, 4}>(const ThreadId&, std::uint8_t*) noexcept;
template std::size_t put_record_head<Target{std::endian::little, 8}>(const ThreadId&, std::uint8_t*) noexcept;
template std::size_t put_record_head<Target{std::endian::big, 4}>(const ThreadId&, std::uint8_t*) noexcept;
template std::size_t put_record_head<Target{std::endian::big, 8}>(const ThreadId&, std::uint8_t*) noexcept;

}  // namespace jitquill::openj9
