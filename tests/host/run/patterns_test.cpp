// Only functions that the patterns name are in the output, from the start and while they change.
#include <gtest/gtest.h>

#include "tests/host/run/run_files.hpp"

namespace {

using test_support::TempFolder;
using Rows = std::map<std::string, run_files::Count>;

// And how often each function was called while the patterns changed.
Rows run_patterns(const TempFolder& folder, unsigned switches, const std::string& hooks,
                  std::uint64_t& calls) {
  test_support::Child child(with_agent(folder, PATTERNS_HOST, {std::to_string(switches)},
                                       "formats=counts policy=lossless hooks=" + hooks));
  const auto ended = child.wait(600);
  EXPECT_TRUE(ended.succeeded()) << ended.describe();
  calls = std::stoull("0" + ended.out);
  const auto stats = run_files::stats(folder);
  EXPECT_EQ(stats.at("run_records_lost"), 0u);
  EXPECT_EQ(stats.at("run_records_broken"), 0u);
  return run_files::counts(folder);
}

// Alone at the end it is exact: "cold" is on for 17 calls.
TEST(Patterns, ChosenByTheHostTakeEffectAtOnce) {
  const TempFolder folder;
  std::uint64_t calls = 0;
  const Rows rows = run_patterns(folder, 0, "nothing", calls);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows.at("cold").calls, 17u);
}

TEST(Patterns, ThatChangeWhileThreadsRunLetNoOtherFunctionIn) {
  const TempFolder folder;
  std::uint64_t calls = 0;
  const Rows rows = run_patterns(folder, times(1'000, 100'000), "hot_a", calls);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows.at("cold").calls, 17u);
  for (const char* hot : {"hot_a", "hot_b"}) {
    EXPECT_GT(rows.at(hot).calls, 0u);
    EXPECT_LT(rows.at(hot).calls, calls);
  }
}

}  // namespace
