#include "writer/eventlog/event_table.hpp"

#include <algorithm>

#include "writer/bytes/decimal.hpp"
#include "writer/bytes/names.hpp"
#include "writer/bytes/utf8.hpp"

namespace jitquill::eventlog {
namespace {

// Behind one that stands for none.
#define FIELD(type, name)  \
  , {                      \
    FieldType::type, #name \
  }
#define EVENTLOG_EVENT(name, NAME, number, owner, text, ...) \
  constexpr FieldText name##Fields[] = {{FieldType::kU8, ""} __VA_ARGS__};
#define EVENTLOG_OLDER(name, NAME, number, owner, until, text, ...) \
  EVENTLOG_EVENT(name, NAME, number, owner, text, __VA_ARGS__)
#include "writer/eventlog/event.def"
#undef EVENTLOG_EVENT
#undef FIELD

#define ROW(name, NAME, owner, since, until, text) \
  {Event::name,                                    \
   Owner::owner,                                   \
   since,                                          \
   until,                                          \
   LayoutOf<Event::name>::kDeclaredSize,           \
   #NAME,                                          \
   text,                                           \
   std::span(name##Fields).subspan(1)},
constexpr Level kFirst = Level::k9_0, kLast = Level::k9_12;
constexpr EventRow kRows[] = {
#define EVENTLOG_EVENT(name, NAME, number, owner, text, ...) ROW(name, NAME, owner, kFirst, kLast, text)
#define EVENTLOG_NEWER(name, NAME, number, owner, since, text, ...) \
  ROW(name, NAME, owner, Level::since, kLast, text)
#define EVENTLOG_OLDER(name, NAME, number, owner, until, text, ...) \
  ROW(name, NAME, owner, kFirst, Level::until, text)
#include "writer/eventlog/event.def"
#undef EVENTLOG_EVENT
};
#undef ROW

// Reads a payload's fields, and says whether they are there.
class FieldReader {
 public:
  explicit FieldReader(std::span<const std::uint8_t> payload) noexcept : rest_(payload) {}
  bool failed() const noexcept { return failed_; }
  bool is_at_end() const noexcept { return rest_.empty(); }

  std::uint64_t number(std::size_t size) noexcept {
    std::uint64_t value = 0;
    for (const std::uint8_t byte : take(size)) value = value << 8 | byte;
    return value;
  }
  std::string_view text_to_nul() noexcept {
    const auto nul = std::ranges::find(rest_, 0);
    const std::string_view text = take_text(static_cast<std::size_t>(nul - rest_.begin()));
    (void)take(1);
    return text;
  }
  // All but what fields behind it take.
  std::string_view text_before(std::size_t behind) noexcept {
    failed_ |= rest_.size() < behind;
    return take_text(failed_ ? 0 : rest_.size() - behind);
  }

 private:
  std::span<const std::uint8_t> take(std::size_t size) noexcept {
    failed_ |= rest_.size() < size;
    if (failed_) return {};
    const auto taken = rest_.first(size);
    rest_ = rest_.subspan(size);
    return taken;
  }
  std::string_view take_text(std::size_t size) noexcept {
    const auto bytes = take(size);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  std::span<const std::uint8_t> rest_;
  bool failed_ = false;
};

std::size_t size_behind(const EventRow& row, std::size_t place) noexcept {
  std::size_t size = 0;
  for (const FieldText& field : row.fields.subspan(place + 1)) size += least_size(field.type);
  return size;
}

void put_number(std::uint64_t number, Bytes& out) noexcept {
  out.raw(Decimal(number).view());
}

void put_list(FieldReader& from, Bytes& out) noexcept {
  const std::uint64_t count = from.number(1);
  out.u8('[');
  for (std::uint64_t i = 0; i < count && !from.failed(); ++i) {
    if (i != 0) out.u8(' ');
    put_number(from.number(4), out);
  }
  out.u8(']');
}

void put_field(const EventRow& row, std::size_t place, FieldReader& from, Bytes& out) noexcept {
  switch (row.fields[place].type) {
    case FieldType::kU8:
    case FieldType::kU16:
    case FieldType::kU32:
    case FieldType::kU64:
      return put_number(from.number(least_size(row.fields[place].type)), out);
    case FieldType::kCStr:
      return (void)put_clean(out, from.text_to_nul());
    case FieldType::kStr:
    case FieldType::kStrs:
      return (void)put_clean(out, from.text_before(size_behind(row, place)));
    case FieldType::kBytes:
      put_number(from.text_before(size_behind(row, place)).size(), out);
      return (void)out.raw(std::string_view(" bytes"));
    case FieldType::kU32List:
      return put_list(from, out);
  }
}

// Empty where the field is none.
std::string_view text_of(const EventRow& row, std::size_t place, FieldReader& from) noexcept {
  switch (row.fields[place].type) {
    case FieldType::kCStr:
      return from.text_to_nul();
    case FieldType::kStr:
    case FieldType::kStrs:
      return from.text_before(size_behind(row, place));
    default: {
      Bytes unread;
      put_field(row, place, from, unread);
      return {};
    }
  }
}

}  // namespace

std::span<const EventRow> event_rows() noexcept {
  return kRows;
}

std::string_view type_name(FieldType type) noexcept {
  constexpr std::string_view kNames[] = {"u8",   "u16",  "u32",   "u64",         "str",
                                         "cstr", "strs", "bytes", "u8 times u32"};
  return kNames[static_cast<std::size_t>(type)];
}

bool put_fields_text(const EventRow& row, std::span<const std::uint8_t> payload, Bytes& out) noexcept {
  FieldReader from(payload);
  for (std::size_t i = 0; i < row.fields.size() && !from.failed(); ++i) {
    out.raw(std::string_view(i == 0 ? "" : ", ")).raw(row.fields[i].name).u8(' ');
    put_field(row, i, from, out);
  }
  return !from.failed() && from.is_at_end();
}

bool has_utf8_texts(const EventRow& row, std::span<const std::uint8_t> payload) noexcept {
  FieldReader from(payload);
  for (std::size_t i = 0; i < row.fields.size() && !from.failed(); ++i) {
    if (!is_utf8(text_of(row, i, from))) return false;
  }
  return true;
}

const EventRow* row_of(std::uint16_t number, std::uint16_t size,
                       std::span<const std::uint8_t> payload) noexcept {
  const EventRow* first = nullptr;
  for (const EventRow& row : kRows) {
    if (number_of(row.event) != number || row.size != size) continue;
    Bytes words;
    if (size != kVariable || put_fields_text(row, payload, words)) return &row;
    if (first == nullptr) first = &row;
  }
  return first;
}

}  // namespace jitquill::eventlog
