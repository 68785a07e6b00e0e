// Processes that end without running destructors, or with other threads inside us.
#include <gtest/gtest.h>
#include <signal.h>

#include "tests/host/leave/both_ways.hpp"

namespace {

class LeaveByExit : public testing::TestWithParam<const char*> {};

TEST_P(LeaveByExit, WritesStatisticsAndNothingOfTheHosts) {
  const BothWays run = run_both_ways(EXIT_HOST, {GetParam()});
  EXPECT_EQ(run.ended.exit_code, 7) << run.ended.describe();
  ASSERT_EQ(run.left.size(), 1u);
  EXPECT_EQ(run.left[0].functions(), numbers(0, 5));
  EXPECT_TRUE(run.left[0].has_counted_all());
  EXPECT_EQ(run.ended.out, std::string(GetParam()) == "return" ? "not flushed" : "");
}

INSTANTIATE_TEST_SUITE_P(By, LeaveByExit, testing::Values("_exit", "_Exit", "return"),
                         [](const auto& way) { return "way" + std::string(way.param); });

class LeaveWhileAnnouncing : public testing::TestWithParam<const char*> {};

// What main announces between the thread's look at the counters and the end is not in them.
TEST_P(LeaveWhileAnnouncing, WritesStatistics) {
  const BothWays run = run_both_ways(EXIT_HOST, {GetParam()});
  EXPECT_EQ(run.ended.exit_code, 7) << run.ended.describe();
  ASSERT_EQ(run.left.size(), 1u);
  const auto functions = run.left[0].functions();
  EXPECT_GT(functions.size(), 10u);
  EXPECT_EQ(functions, numbers(0, static_cast<std::uint32_t>(functions.size())));
  ASSERT_FALSE(run.left[0].statistics.empty());
  const std::uint64_t counted = run.left[0].statistics.at("functions_loaded");
  EXPECT_LE(counted, functions.size());
  EXPECT_GT(counted, 10u);
}

INSTANTIATE_TEST_SUITE_P(From, LeaveWhileAnnouncing, testing::Values("handler", "thread"),
                         [](const auto& where) { return std::string(where.param); });

TEST(LeaveByQuickExit, CountsWhatItsHandlersAnnounce) {
  const BothWays run = run_both_ways(EXIT_HOST, {"quick_exit"});
  EXPECT_EQ(run.ended.exit_code, 7) << run.ended.describe();
  EXPECT_EQ(run.ended.out, "not flushedfirst\nsecond\nthird\n");
  ASSERT_EQ(run.left.size(), 1u);
  EXPECT_EQ(run.left[0].functions(), numbers(0, 6));
  EXPECT_TRUE(run.left[0].has_counted_all());
}

TEST(LeaveByAbort, KeepsTheSignalAndTheDump) {
  const BothWays run = run_both_ways(EXIT_HOST, {"abort"});
  EXPECT_EQ(run.ended.signal, SIGABRT) << run.ended.describe();
  ASSERT_EQ(run.left.size(), 1u);
  EXPECT_EQ(run.left[0].functions(), numbers(0, 5));
  EXPECT_TRUE(run.left[0].statistics.empty());  // no handler of fatal signals
}

TEST(LeaveByTheLastThread, CountsWhatItAnnouncedWithoutMain) {
  const BothWays run = run_both_ways(EXIT_HOST, {"main_ends"});
  EXPECT_EQ(run.ended.exit_code, 0) << run.ended.describe();
  EXPECT_EQ(run.ended.out, "not flushedwent on\n");
  ASSERT_EQ(run.left.size(), 1u);
  EXPECT_EQ(run.left[0].functions(), numbers(0, 8));
  EXPECT_TRUE(run.left[0].has_counted_all());
}

class LeaveWithAStoppedThread : public testing::TestWithParam<const char*> {};

// The lock is never free again: the statistics are given up, the process is not.
TEST_P(LeaveWithAStoppedThread, IsNotHeldUp) {
  const BothWays run = run_both_ways(STOPPED_HOST, {GetParam()});
  if (run.ended.exit_code == 77) GTEST_SKIP() << "no system call filters here";
  EXPECT_EQ(run.ended.exit_code, std::string(GetParam()) == "exec" ? 0 : 7) << run.ended.describe();
  ASSERT_EQ(run.left.size(), 1u);
  EXPECT_EQ(run.left[0].functions(), numbers(0, 3));
  EXPECT_TRUE(run.left[0].statistics.empty());
}

INSTANTIATE_TEST_SUITE_P(By, LeaveWithAStoppedThread, testing::Values("_exit", "return", "exec"),
                         [](const auto& way) { return "way_" + std::string(way.param); });

TEST(LeaveBeforeConstructors, EndsAtOnce) {
  const BothWays run = run_both_ways(EARLY_HOST, {"_exit"});
  EXPECT_EQ(run.ended.exit_code, 7) << run.ended.describe();
  EXPECT_TRUE(run.left.empty());
}

}  // namespace
