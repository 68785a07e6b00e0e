// The table of events (event.def) for who looks at it while it runs: the writer of headers, readers.
//
// Context   any; plain values, constant.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "writer/bytes/bytes.hpp"
#include "writer/eventlog/event.hpp"

namespace jitquill::eventlog {

struct FieldText {
  FieldType type;
  std::string_view name;
};

struct EventRow {
  Event event;
  Owner owner;
  Level since, until;     // readers that know this layout
  std::uint16_t size;     // as it is declared: kVariable or bytes
  std::string_view name;  // GHC's
  std::string_view text;
  std::span<const FieldText> fields;
};

std::span<const EventRow> event_rows() noexcept;

// As events of ours describe their fields: "u32", "cstr".
std::string_view type_name(FieldType type) noexcept;

// The layout of an event that is declared with this size, and whose payload is this: of several the newest
// that takes all of it. Null: readers know none.
const EventRow* row_of(std::uint16_t number, std::uint16_t size,
                       std::span<const std::uint8_t> payload) noexcept;

// Puts `thread 7, status 5`. Texts without control characters. False: the payload ends inside a field, or
// goes on behind the last.
bool put_fields_text(const EventRow& row, std::span<const std::uint8_t> payload, Bytes& out) noexcept;

// Of a payload that put_fields_text() takes. Of numbers between texts nothing is asked.
bool has_utf8_texts(const EventRow& row, std::span<const std::uint8_t> payload) noexcept;

}  // namespace jitquill::eventlog
