#include "writer/jitdump/check/finding.hpp"

#include <cstddef>
#include <utility>

namespace jitquill::jitdump {
namespace {

using enum RuleWeight;

constexpr RuleText kTexts[] = {
#define RULE(id, name, weight, reader, consequence) {name, weight, reader, consequence},
#include "writer/jitdump/check/rules.def"
#undef RULE
};

}  // namespace

const RuleText& text_of(Rule rule) noexcept {
  return kTexts[static_cast<std::size_t>(rule)];
}

void Findings::add(std::uint64_t offset, Rule rule, std::string reason) {
  ++(text_of(rule).weight == Weight::kWrong ? wrong_ : notes_);
  if (kept_.size() < kMostFindings) kept_.push_back({offset, rule, std::move(reason)});
}

}  // namespace jitquill::jitdump
