// A process becomes another program: the old one's files are whole, and the new one has its own.
#include <gtest/gtest.h>

#include "tests/host/leave/both_ways.hpp"
#include "tests/host/leave/exec_ways.hpp"

namespace {

std::vector<std::string> names_of_all() {
  std::vector<std::string> all;
  for (const ExecWay& way : kExecWays) all.push_back(way.name);
  return all;
}

// Two programs, one after the other, of one pid.
void expect_both_images(const BothWays& run) {
  EXPECT_EQ(run.ended.exit_code, 0) << run.ended.describe();
  EXPECT_NE(run.ended.out.find("same pid"), std::string::npos) << run.ended.out;
  ASSERT_EQ(run.left.size(), 2u);
  EXPECT_EQ(run.left[1].folder, run.left[0].folder + ".1");
  EXPECT_EQ(run.left[0].functions(), numbers(0, 5));
  EXPECT_EQ(run.left[1].functions(), numbers(10, 13));
  EXPECT_TRUE(run.left[0].has_counted_all());
  EXPECT_TRUE(run.left[1].has_counted_all());
}

class LeaveByExec : public testing::TestWithParam<std::string> {};

TEST_P(LeaveByExec, WritesStatisticsAndTheNewImageItsOwnFolder) {
  const BothWays run = run_both_ways(EXEC_HOST, {GetParam()});
  expect_both_images(run);
  EXPECT_TRUE(run.ended.out.starts_with("2 arguments: /proc/self/exe arrived \n")) << run.ended.out;
  const bool takes_environment = GetParam().find('e', 4) != std::string::npos;  // an e behind exec
  const bool has_given = run.ended.out.find("given: yes") != std::string::npos;
  EXPECT_EQ(has_given, takes_environment) << run.ended.out;
}

TEST_P(LeaveByExec, PassesOnBeforeOurConstructorRan) {
  const BothWays run = run_both_ways(EARLY_HOST, {GetParam()});
  EXPECT_EQ(run.ended.exit_code, 0) << run.ended.describe();
  EXPECT_EQ(run.ended.out, "arrived\n");
}

INSTANTIATE_TEST_SUITE_P(Function, LeaveByExec, testing::ValuesIn(names_of_all()),
                         [](const auto& way) { return way.param; });

class LeaveByExecFrom : public testing::TestWithParam<const char*> {};

TEST_P(LeaveByExecFrom, LeavesTwoFolders) {
  expect_both_images(run_both_ways(EXEC_HOST, {GetParam()}));
}

INSTANTIATE_TEST_SUITE_P(A, LeaveByExecFrom, testing::Values("thread", "handler"),
                         [](const auto& where) { return std::string(where.param); });

class LeaveByExecInPath : public testing::TestWithParam<const char*> {};

TEST_P(LeaveByExecInPath, FindsTheProgram) {
  expect_both_images(run_both_ways(EXEC_HOST, {"path", GetParam()}));
}

INSTANTIATE_TEST_SUITE_P(With, LeaveByExecInPath, testing::Values("execvp", "execvpe", "execlp"),
                         [](const auto& way) { return std::string(way.param); });

class LeaveByExecOfMany : public testing::TestWithParam<const char*> {};

TEST_P(LeaveByExecOfMany, ArgumentsPassesThemAll) {
  const BothWays run = run_both_ways(EXEC_HOST, {"many", GetParam()});
  expect_both_images(run);
  EXPECT_TRUE(run.ended.out.starts_with("302 arguments: /proc/self/exe arrived x x")) << run.ended.out;
  EXPECT_NE(run.ended.out.find("z z \ngiven: "), std::string::npos) << run.ended.out;
}

INSTANTIATE_TEST_SUITE_P(With, LeaveByExecOfMany, testing::Values("execl", "execle"),
                         [](const auto& way) { return std::string(way.param); });

// Nothing was closed, and what came later is counted too.
TEST(LeaveByExecThatFails, GoesOnAsBefore) {
  const BothWays run = run_both_ways(EXEC_HOST, {"failing"});
  EXPECT_EQ(run.ended.exit_code, 0) << run.ended.describe();
  EXPECT_NE(run.ended.out.find("execve: -1 2 -1 2 -1 13 -1 13 "), std::string::npos) << run.ended.out;
  EXPECT_NE(run.ended.out.find(" -1 7\n"), std::string::npos) << run.ended.out;  // E2BIG
  ASSERT_EQ(run.left.size(), 1u);
  const auto all = static_cast<std::uint32_t>(5 + names_of_all().size());
  EXPECT_EQ(run.left[0].functions(), numbers(0, all));
  EXPECT_TRUE(run.left[0].has_counted_all());
}

// With the lock held for ever, the end of main would wait for it, and write nothing.
TEST(LeaveByExecThatFails, CanBeCancelled) {
  const BothWays run = run_both_ways(EXEC_HOST, {"cancelled"});
  EXPECT_EQ(run.ended.exit_code, 0) << run.ended.describe();
  ASSERT_EQ(run.left.size(), 1u);
  EXPECT_TRUE(run.left[0].has_counted_all());
}

}  // namespace
