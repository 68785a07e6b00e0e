#include "writer/eventlog/record.hpp"

#include <algorithm>

#include "writer/eventlog/event_table.hpp"

namespace jitquill::eventlog {
namespace {

// Four bytes each, as a text.
constexpr std::string_view kHeaderBegin("hdrb"), kHeaderEnd("hdre"), kTypesBegin("hetb"), kTypesEnd("hete"),
    kTypeBegin("etb\0", 4), kTypeEnd("ete\0", 4), kDataBegin("datb");

void put_fields(std::span<const FieldText> fields, Bytes& out) noexcept {
  for (const FieldText& field : fields) {
    const std::string_view type = type_name(field.type);
    out.u16be(kFieldItem).u16be(static_cast<std::uint16_t>(type.size() + 1 + field.name.size()));
    out.raw(type).u8(' ').raw(field.name);
  }
}

void put_declaration(const EventRow& row, Bytes& out) noexcept {
  out.raw(kTypeBegin).u16be(number_of(row.event)).u16be(row.size);
  out.u32be(static_cast<std::uint32_t>(row.text.size())).raw(row.text);
  const std::size_t extra_at = out.size() + sizeof(std::uint32_t);
  out.u32be(0);
  if (row.owner == Owner::kJitquill) put_fields(row.fields, out);
  if (!out.failed()) out.patch_u32be(extra_at - 4, static_cast<std::uint32_t>(out.size() - extra_at));
  out.raw(kTypeEnd);
}

constexpr std::size_t kBlockSizeAt = kRecordHeadSize;
constexpr std::size_t kEndTimeAt = kBlockSizeAt + 4;

}  // namespace

void put_header(std::span<const Owner> owners, Bytes& out, Level level) noexcept {
  out.raw(kHeaderBegin).raw(kTypesBegin);
  for (const EventRow& row : event_rows()) {
    const bool is_known = row.since <= level && level <= row.until;
    if (is_known && std::ranges::find(owners, row.owner) != owners.end()) put_declaration(row, out);
  }
  out.raw(kTypesEnd).raw(kHeaderEnd).raw(kDataBegin);
}

// | event u16 | when u64 | payload size u16, of a variable one | payload |
RecordPutter::RecordPutter(Event event, std::uint64_t when_ns, bool is_fixed, std::size_t least,
                           Bytes& out) noexcept
    : out_(out), start_(out.size()), room_(kMostPayload - least), is_fixed_(is_fixed) {
  out.u16be(number_of(event)).u64be(when_ns);
  if (!is_fixed) out.u16be(0);
  payload_at_ = out.size();
}

void RecordPutter::operator()(std::integral_constant<FieldType, FieldType::kStr>,
                              std::string_view v) noexcept {
  const std::size_t before = out_.size();
  is_cut_ |= !put_utf8(out_, v, room_);
  take(out_.size() - before);
}

// It ends at a NUL within it: what is behind that would be another field.
void RecordPutter::operator()(std::integral_constant<FieldType, FieldType::kCStr>,
                              std::string_view v) noexcept {
  const std::size_t end = v.find('\0');
  is_cut_ |= end != v.npos;
  (*this)(std::integral_constant<FieldType, FieldType::kStr>{}, {v.data(), std::min(end, v.size())});
  out_.u8(0);
}

// As many whole ones as fit; of each what is in front of a NUL.
void RecordPutter::operator()(std::integral_constant<FieldType, FieldType::kStrs>,
                              std::span<const std::string_view> v) noexcept {
  for (const std::string_view text : v) {
    const std::size_t before = out_.size();
    const std::size_t size = std::min(text.find('\0'), text.size());
    is_cut_ |= size != text.size();
    const bool is_whole = room_ != 0 && put_utf8(out_, {text.data(), size}, room_ - 1);
    out_.u8(0);
    if (!is_whole) {
      out_.cut(before);
      is_cut_ = true;
      return;
    }
    take(out_.size() - before);
  }
}

void RecordPutter::operator()(std::integral_constant<FieldType, FieldType::kBytes>,
                              std::span<const std::uint8_t> v) noexcept {
  is_too_large_ |= v.size() > room_;
  if (is_too_large_) return;
  out_.raw(v);
  take(v.size());
}

void RecordPutter::operator()(std::integral_constant<FieldType, FieldType::kU32List>,
                              std::span<const std::uint32_t> v) noexcept {
  const std::size_t count = std::min({v.size(), kMostListed, room_ / sizeof(std::uint32_t)});
  is_cut_ |= count != v.size();
  out_.u8(static_cast<std::uint8_t>(count));
  for (const std::uint32_t number : v.first(count)) out_.u32be(number);
  take(count * sizeof(std::uint32_t));
}

Status RecordPutter::close() noexcept {
  if (is_too_large_) {
    out_.cut(start_);
    return Status::kTooLarge;
  }
  // Of a buffer that has failed the place may be in what was put before.
  if (!is_fixed_ && !out_.failed())
    out_.patch_u16be(payload_at_ - 2, static_cast<std::uint16_t>(out_.size() - payload_at_));
  return is_cut_ ? Status::kTextCut : Status::kOk;
}

Block::Block(std::uint64_t when_ns, std::uint16_t capability, Bytes& out) noexcept
    : out_(out), start_(out.size()) {
  (void)put<Event::kBlockMarker>(when_ns, out, std::uint32_t{0}, std::uint64_t{0}, capability);
}

// One that is too large for its size stays open: it goes on to the next marker, for all readers.
void Block::close(std::uint64_t end_ns) noexcept {
  constexpr std::size_t kMost = 0xFFFFFFFF;
  const std::size_t size = out_.size() - start_;
  out_.patch_u32be(start_ + kBlockSizeAt, size > kMost ? 0 : static_cast<std::uint32_t>(size));
  out_.patch_u64be(start_ + kEndTimeAt, end_ns);
}

}  // namespace jitquill::eventlog
