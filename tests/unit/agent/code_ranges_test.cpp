#include "agent/lanes/code_ranges.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <iterator>
#include <map>
#include <random>

namespace jitquill {
namespace {

using Model = std::map<std::uint64_t, std::uint64_t>;  // start -> id

void insert(CodeRanges& ranges, std::uint64_t address, std::uint64_t id) {
  ASSERT_TRUE(ranges.can_insert());
  ranges.insert(address, {.id = id, .size = 1});
}

// What for_each() and step() see, and what is in front of each.
void expect_same(CodeRanges& ranges, const Model& model) {
  Model seen;
  ranges.for_each([&](std::uint64_t start, const LiveCode& code) { seen.emplace(start, code.id); });
  ASSERT_EQ(seen, model);
  CodeRanges::Place at = ranges.at_or_above(0);
  for (auto expected = model.begin(); expected != model.end(); ++expected, ranges.step(at)) {
    ASSERT_FALSE(ranges.is_end(at));
    ASSERT_EQ(at.start(), expected->first);
    CodeRanges::Place before = at;
    ASSERT_EQ(ranges.step_back(before), expected != model.begin());
    if (expected == model.begin()) continue;
    ASSERT_EQ(before.start(), std::prev(expected)->first);
  }
  ASSERT_TRUE(ranges.is_end(at));
}

void expect_found(CodeRanges& ranges, const Model& model, std::uint64_t address) {
  const auto expected = model.lower_bound(address);
  const CodeRanges::Place found = ranges.at_or_above(address);
  ASSERT_EQ(ranges.is_end(found), expected == model.end());
  if (expected == model.end()) return;
  ASSERT_EQ(found.start(), expected->first);
  ASSERT_EQ(found.code().id, expected->second);
}

void erase(CodeRanges& ranges, Model& model, Model::iterator which) {
  const CodeRanges::Place behind = ranges.erase(ranges.at_or_above(which->first));
  const auto next = model.erase(which);
  ASSERT_EQ(ranges.is_end(behind), next == model.end());
  if (next == model.end()) return;
  ASSERT_EQ(behind.start(), next->first);
}

// Grows and shrinks, so that pages come, split, join and go.
TEST(CodeRanges, AgreeWithAMap) {
  CodeRanges ranges;
  Model model;
  std::mt19937 random(7);
  for (std::uint64_t i = 0; i < 40'000; ++i) {
    const std::uint64_t address = random() % 5'000;
    const auto at = model.lower_bound(address);
    const bool is_growing = i / 5'000 % 2 == 0;
    if (random() % 4 == (is_growing ? 0 : 1) || !is_growing) {
      if (at != model.end()) erase(ranges, model, at);
    } else if (model.emplace(address, i).second) {
      insert(ranges, address, i);
    }
    expect_found(ranges, model, random() % 5'001);
    if (i % 1'000 == 0) expect_same(ranges, model);
    if (HasFatalFailure()) return;
  }
}

TEST(CodeRanges, ComeAndGoFromEitherEnd) {
  for (const bool upwards : {true, false}) {
    CodeRanges ranges;
    Model model;
    for (std::uint64_t i = 0; i < 300; ++i) {
      const std::uint64_t address = upwards ? i : 299 - i;
      model.emplace(address, i);
      insert(ranges, address, i);
    }
    expect_same(ranges, model);
    while (!model.empty()) erase(ranges, model, upwards ? model.begin() : std::prev(model.end()));
    expect_same(ranges, model);
    insert(ranges, 5, 1);
    expect_found(ranges, {{5, 1}}, 0);
  }
}

// The first page takes all that comes below it, whichever page that is by then.
TEST(CodeRanges, GoAtTheFrontAndComeBack) {
  CodeRanges ranges;
  Model model;
  for (std::uint64_t address = 1'000; address < 1'300; ++address) {
    model.emplace(address, address);
    insert(ranges, address, address);
  }
  for (int i = 0; i < 100; ++i) erase(ranges, model, model.begin());
  for (std::uint64_t address = 999; address >= 700; --address) {
    model.emplace(address, address);
    insert(ranges, address, address);
    expect_found(ranges, model, address + 150);
  }
  expect_same(ranges, model);
}

// As two arenas that fill by turns, the lower one's pages in front of the other's.
TEST(CodeRanges, TakeWhatGoesOnInTheMiddle) {
  CodeRanges ranges;
  Model model;
  for (std::uint64_t i = 0; i < 400; ++i) {
    const std::uint64_t address = (i % 2 == 0 ? 0x1000 : 0x8000) + i;
    model.emplace(address, i);
    insert(ranges, address, i);
  }
  expect_same(ranges, model);
}

}  // namespace
}  // namespace jitquill
