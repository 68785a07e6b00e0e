#include "writer/eventlog/log_walk.hpp"

#include <algorithm>

namespace jitquill::eventlog {
namespace {

constexpr std::uint16_t kEndOfData = 0xFFFF;
constexpr std::string_view kTypeBegin("etb\0", 4), kTypeEnd("ete\0", 4);

}  // namespace

LogWalk::LogWalk(std::span<const std::uint8_t> bytes) noexcept : bytes_(bytes) {
  if (!take_word("hdrb"))
    end_ = End::kNoLog;
  else if (!read_header() && end_ == End::kNone)
    end_ = End::kBadHeader;
}

std::uint64_t LogWalk::number(std::size_t size) noexcept {
  std::uint64_t value = 0;
  for (; size > 0; --size) value = value << 8 | bytes_[static_cast<std::size_t>(at_++)];
  return value;
}

bool LogWalk::take_word(std::string_view word) noexcept {
  const auto* const here = reinterpret_cast<const char*>(bytes_.data()) + at_;
  if (!has(word.size()) || std::string_view(here, word.size()) != word) return false;
  at_ += word.size();
  return true;
}

bool LogWalk::read_header() noexcept {
  if (!take_word("hetb")) return false;
  while (take_word(kTypeBegin)) {
    if (!read_type()) return false;
  }
  return take_word("hete") && take_word("hdre") && take_word("datb");
}

// | number u16 | size u16 | description: size u32, bytes | extra information likewise |
bool LogWalk::read_type() noexcept {
  if (!has(8)) return false;
  const auto event = static_cast<std::size_t>(number(2));
  Type type;
  type.is_declared = true;
  type.size = static_cast<std::uint16_t>(number(2));
  type.description_size = static_cast<std::uint32_t>(number(4));
  type.description_at = at_;
  if (!has(type.description_size)) return false;
  at_ += type.description_size;
  if (!has(4)) return false;
  const std::uint64_t extra = number(4);
  if (!has(extra)) return false;
  at_ += extra;
  if (!by_number_.grow_to(std::max(event + 1, by_number_.size()), Type{})) {
    end_ = End::kNoMemory;
    return false;
  }
  types_ += by_number_[event].is_declared ? 0 : 1;
  by_number_[event] = type;
  return take_word(kTypeEnd);
}

std::nullopt_t LogWalk::stop(End end, std::uint64_t at) noexcept {
  end_ = end;
  at_ = at;
  return std::nullopt;
}

void LogWalk::begin_block(const RecordView& marker) noexcept {
  const auto field = [&](std::size_t at, std::size_t size) {
    std::uint64_t value = 0;
    for (const std::uint8_t byte : marker.payload.subspan(at, size)) value = value << 8 | byte;
    return value;
  };
  const std::uint64_t size = field(0, 4);
  block_end_ = size == 0 ? kOpen : marker.offset + size;
  capability_ = static_cast<std::uint16_t>(field(12, 2));
}

std::optional<RecordView> LogWalk::next() noexcept {
  if (end_ != End::kNone) return std::nullopt;
  const std::uint64_t start = at_;
  if (block_end_ != 0 && start >= block_end_) {
    block_end_ = 0;
    capability_ = kNoCapability;
  }
  if (!has(1)) return stop(End::kNoMarker, start);
  if (!has(2)) return stop(End::kTorn, start);
  RecordView record{};
  record.offset = start;
  record.capability = capability_;
  record.number = static_cast<std::uint16_t>(number(2));
  if (record.number == kEndOfData) return stop(End::kMarker, start);
  if (record.number >= by_number_.size() || !by_number_[record.number].is_declared)
    return stop(End::kUndeclared, start);
  const Type& type = by_number_[record.number];
  const bool is_variable = type.size == kVariable;
  if (!has(is_variable ? 10 : 8)) return stop(End::kTorn, start);
  record.when_ns = number(8);
  record.declared_size = type.size;
  const std::uint64_t size = is_variable ? number(2) : type.size;
  if (!has(size)) return stop(End::kTorn, start);
  record.payload = bytes_.subspan(static_cast<std::size_t>(at_), static_cast<std::size_t>(size));
  record.description = {reinterpret_cast<const char*>(bytes_.data()) + type.description_at,
                        type.description_size};
  at_ += size;
  constexpr std::size_t kBlockPayload = LayoutOf<Event::kBlockMarker>::kLeastSize;
  if (record.number == number_of(Event::kBlockMarker) && size == kBlockPayload) begin_block(record);
  return record;
}

}  // namespace jitquill::eventlog
