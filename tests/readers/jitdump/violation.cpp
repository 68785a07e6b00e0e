#include "tests/readers/jitdump/violation.hpp"

#include <cinttypes>
#include <cstdio>

namespace jitdump_reader {
namespace {

struct RuleText {
  const char* name;
  const char* consequence;
};

constexpr RuleText kTexts[] = {
#define RULE(id, name, consequence) {name, consequence},
#include "tests/readers/jitdump/rules.def"
#undef RULE
};

}  // namespace

const char* name(Rule rule) {
  return kTexts[static_cast<std::size_t>(rule)].name;
}

const char* consequence(Rule rule) {
  return kTexts[static_cast<std::size_t>(rule)].consequence;
}

std::string describe(const Violation& violation) {
  char offset[32];
  std::snprintf(offset, sizeof offset, "offset 0x%" PRIx64 ": ", violation.offset);
  return std::string(offset) + name(violation.rule) + ": " + violation.reason + " (" +
         consequence(violation.rule) + ")";
}

std::string describe(const Violations& violations) {
  constexpr std::size_t kShown = 20;
  std::string all;
  for (std::size_t i = 0; i < violations.size() && i < kShown; ++i) all += describe(violations[i]) + "\n";
  if (violations.size() > kShown) all += std::to_string(violations.size() - kShown) + " more\n";
  return all;
}

}  // namespace jitdump_reader
