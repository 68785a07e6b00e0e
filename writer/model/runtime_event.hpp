// What a language runtime told of itself, as the payload of a post has it: read where it lies, by the table
// (runtime_event.def).
//
// Context   any; plain values. What text() answers lies in the post.
// Promises  never reads beyond the payload. A field that a payload is too short for is 0 or empty.
// Does not  say what a sink makes of an event: each has a table of its own, from these kinds to its format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "writer/model/run.hpp"

namespace jitquill {

enum class RuntimeEventKind : std::uint16_t {
#define RUNTIME_EVENT(name, c_name, C_NAME, number, words, says, fields) name = number,
#include "writer/model/runtime_event.def"
};

// Of a runtime's own events: no row has a number from here on.
inline constexpr std::uint32_t kFirstOwnEvent = 1024;

enum class FieldType : std::uint8_t { kU8, kU16, kU32, kU64, kI64, kWord, kText, kBytes };

enum class WordSet : std::uint8_t {
  kNone,
#define WORD_SET(set, c_type, C_SET, what) set,
#include "writer/model/runtime_event.def"
};

// event_word::kStopReason::kYielded
#define EVENT_WORD(set, name, C_NAME, number, words, meaning) \
  namespace event_word::set {                                 \
  inline constexpr std::uint8_t name = number;                \
  }
#include "writer/model/runtime_event.def"

// Places of fields: event_field::thread_stopped::reason
#define FIELD(type, name, unit, meaning) name,
#define WORD(set, name, meaning) name,
#define TEXT(name, meaning) name,
#define BYTES(name, meaning) name,
#define RUNTIME_EVENT(name, c_name, C_NAME, number, words, says, fields) \
  namespace event_field::c_name {                                        \
  enum Place : std::size_t { fields kCount };                            \
  }
#include "writer/model/runtime_event.def"
#undef FIELD
#undef WORD
#undef TEXT
#undef BYTES

struct EventField {
  FieldType type;
  WordSet words;     // of a kWord
  std::uint16_t at;  // in the payload
  std::string_view name;
  std::string_view unit;  // empty = a number, an id
};

struct RuntimeEventRow {
  RuntimeEventKind kind;
  std::uint16_t fixed_size;  // bytes; of a text, what is behind them
  std::string_view name;     // snake_case, as in C
  std::string_view words;
  std::span<const EventField> fields;
};

std::span<const RuntimeEventRow> runtime_event_rows() noexcept;

// Empty: it is none of the set's.
std::string_view word_of(WordSet set, std::uint64_t number) noexcept;

class RuntimeEvent {
 public:
  explicit RuntimeEvent(const Post& post) noexcept;

  // Null: an event of the runtime's own, or of a later header than ours.
  const RuntimeEventRow* row() const noexcept { return row_; }
  // Of a field of fixed size (event_field::); a kI64 as its bits.
  std::uint64_t number(std::size_t field) const noexcept;
  // Of the event's text or bytes.
  std::string_view text() const noexcept;

 private:
  const RuntimeEventRow* row_;
  std::span<const std::uint8_t> payload_;
};

}  // namespace jitquill
