// What the checker finds in a jitdump file: where, which rule, and why.
//
// Context   any; plain values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "writer/model/rule_text.hpp"

namespace jitquill::jitdump {

enum class Rule : std::uint8_t {
#define RULE(id, name, weight, reader, consequence) id,
#include "writer/jitdump/check/rules.def"
#undef RULE
};

using Weight = RuleWeight;

const RuleText& text_of(Rule rule) noexcept;

struct Finding {
  std::uint64_t offset;  // bytes from the start of the file
  Rule rule;
  std::string reason;
};

// Keeps the first kMostFindings, and counts the others.
class Findings {
 public:
  static constexpr std::size_t kMostFindings = 10'000;

  void add(std::uint64_t offset, Rule rule, std::string reason);

  const std::vector<Finding>& kept() const noexcept { return kept_; }
  std::uint64_t wrong() const noexcept { return wrong_; }
  std::uint64_t notes() const noexcept { return notes_; }

 private:
  std::vector<Finding> kept_;
  std::uint64_t wrong_ = 0;
  std::uint64_t notes_ = 0;
};

}  // namespace jitquill::jitdump
