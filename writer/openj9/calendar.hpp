// Dates and times of day, as text: the formatter prints times of a day only.
//
// Context   any; plain values.
#pragma once

#include <cstdint>
#include <string_view>

#include "writer/openj9/header.hpp"

namespace jitquill::openj9 {

inline constexpr std::uint64_t kMsPerDay = 86'400'000;

// 2026-12-01, UTC. Years have four digits: what is later is cut.
class DateText {
 public:
  explicit DateText(std::uint64_t days_since_1970) noexcept;
  std::string_view view() const noexcept { return {text_, sizeof text_}; }

 private:
  char text_[10];
};

// 03:04:05.001234567, as the formatter prints it.
class TimeText {
 public:
  TimeText(const Clock& clock, std::uint64_t ticks) noexcept;
  std::string_view view() const noexcept { return {text_, sizeof text_}; }

 private:
  char text_[18];
};

}  // namespace jitquill::openj9
