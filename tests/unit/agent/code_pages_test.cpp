#include "agent/lanes/code_pages.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <iterator>
#include <map>
#include <random>

namespace jitquill {
namespace {

using Model = std::map<std::uint64_t, std::uint64_t>;  // start -> id

void insert(CodePages& pages, std::uint64_t address, std::uint64_t id) {
  ASSERT_TRUE(pages.can_insert());
  pages.insert(address) = {.id = id, .size = 1};
}

// What for_each() and step() see, and what is in front of each.
void expect_same(CodePages& pages, const Model& model) {
  Model seen;
  pages.for_each([&](std::uint64_t start, const LiveCode& code) { seen.emplace(start, code.id); });
  ASSERT_EQ(seen, model);
  CodePages::Place at = pages.at_or_above(0);
  for (auto expected = model.begin(); expected != model.end(); ++expected, pages.step(at)) {
    ASSERT_FALSE(pages.is_end(at));
    ASSERT_EQ(at.start(), expected->first);
    CodePages::Place before = at;
    ASSERT_EQ(pages.step_back(before), expected != model.begin());
    if (expected == model.begin()) continue;
    ASSERT_EQ(before.start(), std::prev(expected)->first);
  }
  ASSERT_TRUE(pages.is_end(at));
}

void expect_found(CodePages& pages, const Model& model, std::uint64_t address) {
  const auto expected = model.lower_bound(address);
  const CodePages::Place found = pages.at_or_above(address);
  ASSERT_EQ(pages.is_end(found), expected == model.end());
  if (expected == model.end()) return;
  ASSERT_EQ(found.start(), expected->first);
  ASSERT_EQ(found.code().id, expected->second);
}

void erase(CodePages& pages, Model& model, Model::iterator which) {
  const CodePages::Place behind = pages.erase(pages.at_or_above(which->first));
  const auto next = model.erase(which);
  ASSERT_EQ(pages.is_end(behind), next == model.end());
  if (next == model.end()) return;
  ASSERT_EQ(behind.start(), next->first);
}

// Grows and shrinks, so that pages come, split, join and go.
TEST(CodePages, AgreeWithAMap) {
  CodePages pages;
  Model model;
  std::mt19937 random(7);
  for (std::uint64_t i = 0; i < 40'000; ++i) {
    const std::uint64_t address = random() % 5'000;
    const auto at = model.lower_bound(address);
    const bool is_growing = i / 5'000 % 2 == 0;
    if (random() % 4 == (is_growing ? 0 : 1) || !is_growing) {
      if (at != model.end()) erase(pages, model, at);
    } else if (model.emplace(address, i).second) {
      insert(pages, address, i);
    }
    expect_found(pages, model, random() % 5'001);
    if (i % 1'000 == 0) expect_same(pages, model);
    if (HasFatalFailure()) return;
  }
}

TEST(CodePages, ComeAndGoFromEitherEnd) {
  for (const bool upwards : {true, false}) {
    CodePages pages;
    Model model;
    for (std::uint64_t i = 0; i < 300; ++i) {
      const std::uint64_t address = upwards ? i : 299 - i;
      model.emplace(address, i);
      insert(pages, address, i);
    }
    expect_same(pages, model);
    while (!model.empty()) erase(pages, model, upwards ? model.begin() : std::prev(model.end()));
    expect_same(pages, model);
    insert(pages, 5, 1);
    expect_found(pages, {{5, 1}}, 0);
  }
}

// The first page takes all that comes below it, whichever page that is by then.
TEST(CodePages, GoAtTheFrontAndComeBack) {
  CodePages pages;
  Model model;
  for (std::uint64_t address = 1'000; address < 1'300; ++address) {
    model.emplace(address, address);
    insert(pages, address, address);
  }
  for (int i = 0; i < 100; ++i) erase(pages, model, model.begin());
  for (std::uint64_t address = 999; address >= 700; --address) {
    model.emplace(address, address);
    insert(pages, address, address);
    expect_found(pages, model, address + 150);
  }
  expect_same(pages, model);
}

// As two arenas that fill by turns, the lower one's pages in front of the other's.
TEST(CodePages, TakeWhatGoesOnInTheMiddle) {
  CodePages pages;
  Model model;
  for (std::uint64_t i = 0; i < 400; ++i) {
    const std::uint64_t address = (i % 2 == 0 ? 0x1000 : 0x8000) + i;
    model.emplace(address, i);
    insert(pages, address, i);
  }
  expect_same(pages, model);
}

}  // namespace
}  // namespace jitquill
