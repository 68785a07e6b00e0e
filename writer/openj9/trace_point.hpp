// Our trace points (trace_point.def), as values: what their entries hold, and what a format data file says of
// them.
//
// Context   any; plain values, all made while compiling: a text that the formatter cannot do with, numbers
//           with a gap, or values of other types than the text has do not compile.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "writer/bytes/bytes.hpp"
#include "writer/model/status.hpp"
#include "writer/openj9/entry.hpp"
#include "writer/openj9/message_template.hpp"
#include "writer/openj9/parameters.hpp"

namespace jitquill::openj9 {

enum class Point : std::uint16_t {
#define TRACE_POINT(component, name, type, level, text) name,
#include "writer/openj9/trace_point.def"
#undef TRACE_POINT
};

struct PointRow {
  std::string_view component;
  std::uint32_t number;
  PointType type;
  std::uint8_t level;
  std::string_view name;  // kCodeLoad
  std::string_view text;
  Signature signature;
};

namespace detail {

// Texts are pieced together by the table: without the space in front of a comma that a missing unit leaves.
template <std::size_t kSize>
struct TidyText {
  char chars[kSize] = {};
  std::size_t size = 0;

  consteval explicit TidyText(const char (&text)[kSize]) {
    for (std::size_t i = 0; i + 1 < kSize; ++i) {
      if (text[i] != ' ' || (text[i + 1] != ',' && text[i + 1] != ':' && text[i + 1] != '\0'))
        chars[size++] = text[i];
    }
  }
  constexpr std::string_view view() const { return {chars, size}; }
};

template <Point>
struct TextOf;
#define TRACE_POINT(component, name, type, level, text)                          \
  template <>                                                                    \
  struct TextOf<Point::name> {                                                   \
    static constexpr TidyText<sizeof(text)> kText{TidyText<sizeof(text)>(text)}; \
  };
#include "writer/openj9/trace_point.def"
#undef TRACE_POINT

#define TRACE_POINT(component, name, type, level, text)                                  \
  static_assert(parse_template(TextOf<Point::name>::kText.view()).fault == nullptr,      \
                #name ": the formatter cannot do with its text (message_template.hpp)"); \
  static_assert(is_component_name(#component) && level >= 0 && level <= 9, #name ": component or level");
#include "writer/openj9/trace_point.def"
#undef TRACE_POINT

template <std::size_t kCount>
consteval std::array<PointRow, kCount> numbered(std::array<PointRow, kCount> rows) {
  for (std::size_t i = 1; i < kCount; ++i) {
    if (rows[i].component == rows[i - 1].component) rows[i].number = rows[i - 1].number + 1;
  }
  return rows;
}

template <std::size_t kCount>
consteval bool is_well_numbered(const std::array<PointRow, kCount>& rows) {
  std::size_t first = 0;  // of the component at hand
  for (std::size_t i = 0; i < kCount; ++i) {
    if (rows[i].component != rows[first].component) first = i;
    if (rows[i].number != i - first || rows[i].number > kMostNumber) return false;
    for (std::size_t k = 0; k < first; ++k) {
      if (rows[k].component == rows[i].component) return false;
    }
  }
  return true;
}

}  // namespace detail

inline constexpr auto kPointRows = detail::numbered(std::to_array<PointRow>({
#define TRACE_POINT(component, name, type, level, text) \
  PointRow{#component,                                  \
           0,                                           \
           PointType::type,                             \
           level,                                       \
           #name,                                       \
           detail::TextOf<Point::name>::kText.view(),   \
           parse_template(detail::TextOf<Point::name>::kText.view()).signature},
#include "writer/openj9/trace_point.def"
#undef TRACE_POINT
}));
static_assert(detail::is_well_numbered(kPointRows),
              "a component's rows do not stand together, or are too many");

constexpr const PointRow& row_of(Point point) noexcept {
  return kPointRows[static_cast<std::size_t>(point)];
}
template <Point kPoint>
inline constexpr Signature kSignatureOf = row_of(kPoint).signature;

// Of each point, by its place in the table.
template <Target kTarget>
inline constexpr auto kHeads = [] {
  std::array<EntryHead<kTarget>, kPointRows.size()> heads;
  for (std::size_t i = 0; i < heads.size(); ++i)
    heads[i] = EntryHead<kTarget>(kPointRows[i].component, kPointRows[i].number);
  return heads;
}();
template <Target kTarget>
constexpr const EntryHead<kTarget>& head_of(Point point) noexcept {
  return kHeads<kTarget>[static_cast<std::size_t>(point)];
}

// The parameters of one entry, of at most `most` bytes.
template <Target kTarget, Point kPoint, class... Values>
requires Fits<kSignatureOf<kPoint>, Values...> Status put_parameters(std::size_t most, Bytes& out,
                                                                     const Values&... values)
noexcept {
  return put_values<kTarget, kSignatureOf<kPoint>>(most, out, values...);
}

}  // namespace jitquill::openj9
