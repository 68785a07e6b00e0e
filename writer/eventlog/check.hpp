// What of an eventlog its readers stumble over.
//
// Context   tools.
// Promises  looks at every byte up to where readers stop. Keeps the first kMostKept findings, counts all.
// Does not  judge the order of what a runtime told: `ghc-events validate` does.
#pragma once

#include <cstdint>
#include <span>

#include "writer/bytes/growing_array.hpp"
#include "writer/model/rule_text.hpp"

namespace jitquill::eventlog {

enum class LogRule : std::uint8_t {
#define LOG_RULE(id, name, weight, readers) id,
#include "writer/eventlog/log_rule.def"
#undef LOG_RULE
};

const RuleText& text_of(LogRule rule) noexcept;

struct LogFinding {
  std::uint64_t offset;
  LogRule rule;
  std::uint16_t number;  // of the event; 0xFFFF = none
};

struct LogCheck {
  static constexpr std::size_t kMostKept = 1000;

  GrowingArray<LogFinding> findings;
  std::uint64_t wrong = 0;
  std::uint64_t notes = 0;
  std::uint64_t records = 0;
  bool is_log = false;
};

void check(std::span<const std::uint8_t> bytes, LogCheck& check) noexcept;

}  // namespace jitquill::eventlog
