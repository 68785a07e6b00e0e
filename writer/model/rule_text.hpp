// What `jitquill check` says of one rule of a format; each format has a table of them.
//
// Context   any; plain values.
#pragma once

#include <cstdint>

namespace jitquill {

enum class RuleWeight : std::uint8_t { kNote, kWrong };

struct RuleText {
  const char* name;
  RuleWeight weight;
  const char* reader;  // who suffers; empty: as the consequence says
  const char* consequence;

  bool is_note() const noexcept { return weight == RuleWeight::kNote; }
};

}  // namespace jitquill
