// Functions that no pattern names cost next to nothing once that was found, and the trees are the same.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/host/run/run_files.hpp"

namespace {

using test_support::TempFolder;

class LeftAlone : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Ways, LeftAlone,
                         testing::Values("gcc_fentry", "gcc_pg", "gcc_return", "clang_fentry"),
                         [](const auto& way) { return std::string(way.param); });

std::string tree(const calls_reader::Thread& thread) {
  std::string words;
  for (const auto& call : thread.calls) {
    if (call.depth == 0 && call.name == "call_round") words += "\n";
    words += std::string(static_cast<std::size_t>(call.depth), ' ') + call.name + " " + call.how + ";";
  }
  return words;
}

std::string rounds(std::size_t count, bool says_tail_calls) {
  std::string all;
  for (std::size_t i = 0; i < count; ++i) {
    all += "\ncall_round ; call_leaf ; call_leaf ;";
    all += says_tail_calls ? " call_jumping tail call; call_leaf ;" : " call_jumping ; call_leaf ;";
    all += " call_left unwound; call_leaf ;";
  }
  return all;
}

constexpr std::uint64_t kHiddenOfAll = 6 * 20'000;

TEST_P(LeftAlone, FunctionsMakeTheSameTrees) {
  const std::string way = GetParam();
  const std::string host = std::string(TROUBLE_HOSTS) + "/left_alone_" + way;
  if (!std::filesystem::exists(host)) GTEST_SKIP() << "no such compiler";
  const TempFolder folder;
  test_support::Child child(with_preload(folder, host, {}, "formats=calls,counts hooks=call_*"));
  const auto ended = child.wait(60);
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  run_files::expect_whole(folder, child.pid());
  const auto values = run_files::stats(folder);
  EXPECT_EQ(values.at("run_ends_unpaired"), 0u);
  EXPECT_LT(values.at("run_records"), 2 * kHiddenOfAll * 3 / 4) << "they were put all the same";
  const auto counts = run_files::counts(folder);
  EXPECT_EQ(counts.at("hidden_leaf").calls, 17u);
  EXPECT_EQ(counts.at("call_leaf").calls, 6u * 4);
  std::string hidden;
  for (int i = 0; i < 17; ++i) hidden += "hidden_leaf ;";
  const auto file = run_files::calls(folder);
  ASSERT_EQ(file.threads.size(), 1u);
  const bool says_tail_calls = way != "gcc_return";
  EXPECT_EQ(tree(file.threads.begin()->second),
            rounds(3, says_tail_calls) + hidden + rounds(3, says_tail_calls));
}

// As `!x` says it.
TEST_P(LeftAlone, AreWhatThePatternsExclude) {
  const std::string host = std::string(TROUBLE_HOSTS) + "/left_alone_" + GetParam();
  if (!std::filesystem::exists(host)) GTEST_SKIP() << "no such compiler";
  const TempFolder folder;
  test_support::Child child(
      with_preload(folder, host, {"once"}, "formats=counts hooks=*,!hidden_*,!call_jump*"));
  const auto ended = child.wait(60);
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  const auto counts = run_files::counts(folder);
  EXPECT_EQ(counts.size(), 3u);
  EXPECT_EQ(counts.at("call_leaf").calls, 4u);
  EXPECT_EQ(counts.at("call_round").calls, 1u);
  EXPECT_EQ(counts.at("call_left").calls, 1u);
}

}  // namespace
