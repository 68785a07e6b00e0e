#include "writer/model/runtime_event.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace jitquill {
namespace {

constexpr std::size_t size_of(FieldType type) noexcept {
  constexpr std::uint8_t kSizes[] = {1, 2, 4, 8, 8, 1, 0, 0};
  return kSizes[static_cast<std::size_t>(type)];
}

// The last of `rows` is no field: an event may have none.
template <std::size_t kRows>
consteval std::array<EventField, kRows - 1> placed(const EventField (&rows)[kRows]) {
  std::array<EventField, kRows - 1> fields{};
  std::size_t at = 0;
  for (std::size_t i = 0; i + 1 < kRows; ++i) {
    fields[i] = rows[i];
    fields[i].at = static_cast<std::uint16_t>(at);
    at += size_of(rows[i].type);
  }
  return fields;
}

constexpr std::uint16_t fixed_size_of(std::span<const EventField> fields) noexcept {
  return fields.empty() ? 0 : static_cast<std::uint16_t>(fields.back().at + size_of(fields.back().type));
}

#define FIELD(type, name, unit, meaning) {FieldType::type, WordSet::kNone, 0, #name, unit},
#define WORD(set, name, meaning) {FieldType::kWord, WordSet::set, 0, #name, ""},
#define TEXT(name, meaning) {FieldType::kText, WordSet::kNone, 0, #name, ""},
#define BYTES(name, meaning) {FieldType::kBytes, WordSet::kNone, 0, #name, ""},
#define RUNTIME_EVENT(name, c_name, C_NAME, number, words, says, fields) \
  constexpr auto k_##c_name = placed({fields EventField{}});
#include "writer/model/runtime_event.def"
#undef FIELD
#undef WORD
#undef TEXT
#undef BYTES

constexpr RuntimeEventRow kRows[] = {
#define RUNTIME_EVENT(name, c_name, C_NAME, number, words, says, fields) \
  {RuntimeEventKind::name, fixed_size_of(k_##c_name), #c_name, words, k_##c_name},
#include "writer/model/runtime_event.def"
};

constexpr std::size_t kMostNumber = 255;
constexpr std::uint8_t kNoRow = 255;
static_assert(std::size(kRows) < kNoRow);

// By number: the row's index.
constexpr auto kRowOf = [] {
  std::array<std::uint8_t, kMostNumber + 1> all{};
  all.fill(kNoRow);
  for (std::size_t i = 0; i < std::size(kRows); ++i)
    all[static_cast<std::size_t>(kRows[i].kind)] = static_cast<std::uint8_t>(i);
  return all;
}();

constexpr bool is_text(const EventField& field) noexcept {
  return size_of(field.type) == 0;
}

// A text is the last, and the only one; so what is in front of it has a fixed place.
static_assert(std::ranges::all_of(kRows, [](const RuntimeEventRow& row) {
  return row.fields.empty() || std::ranges::none_of(row.fields.first(row.fields.size() - 1), is_text);
}));

struct WordRow {
  WordSet set;
  std::uint8_t number;
  std::string_view words;
};

constexpr WordRow kWords[] = {
#define EVENT_WORD(set, name, C_NAME, number, words, meaning) {WordSet::set, number, words},
#include "writer/model/runtime_event.def"
};

}  // namespace

std::span<const RuntimeEventRow> runtime_event_rows() noexcept {
  return kRows;
}

std::string_view word_of(WordSet set, std::uint64_t number) noexcept {
  for (const WordRow& row : kWords) {
    if (row.set == set && row.number == number) return row.words;
  }
  return {};
}

RuntimeEvent::RuntimeEvent(const Post& post) noexcept : row_(nullptr), payload_(post.payload) {
  const std::uint8_t row = post.event < kRowOf.size() ? kRowOf[post.event] : kNoRow;
  if (row != kNoRow) row_ = &kRows[row];
}

std::uint64_t RuntimeEvent::number(std::size_t field) const noexcept {
  if (row_ == nullptr || field >= row_->fields.size()) return 0;
  const EventField& it = row_->fields[field];
  const std::size_t size = size_of(it.type);
  std::uint64_t value = 0;
  if (it.at + size <= payload_.size()) std::memcpy(&value, payload_.data() + it.at, size);
  return value;
}

std::string_view RuntimeEvent::text() const noexcept {
  if (row_ == nullptr || row_->fields.empty() || !is_text(row_->fields.back())) return {};
  if (row_->fixed_size >= payload_.size()) return {};
  const auto rest = payload_.subspan(row_->fixed_size);
  return {reinterpret_cast<const char*>(rest.data()), rest.size()};
}

}  // namespace jitquill
