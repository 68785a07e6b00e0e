// Children of a process that has outputs: they never touch their parent's, and have their own.
#include <gtest/gtest.h>

#include "tests/host/leave/both_ways.hpp"

namespace {

const std::vector<std::uint32_t> kParents = {0, 1, 2, 3, 4, 40};

// The parent's outputs are whole, and say nothing of its children.
BothWays run_parent(const char* how, std::size_t processes) {
  BothWays run = run_both_ways(CHILDREN_HOST, {how});
  EXPECT_EQ(run.ended.exit_code, 0) << run.ended.describe();
  EXPECT_EQ(run.left.size(), processes);
  if (run.left.empty()) run.left.resize(1);
  EXPECT_EQ(run.left[0].functions(), kParents);
  for (const LeftBehind& left : run.left) EXPECT_TRUE(left.has_counted_all()) << left.folder;
  run.left.resize(processes);
  return run;
}

TEST(LeaveInAChild, OfForkThatAnnouncedWritesItsOwn) {
  const BothWays run = run_parent("fork", 2);
  EXPECT_EQ(run.left[1].functions(), numbers(5, 8));
}

TEST(LeaveInAChild, OfForkThatAnnouncedNothingWritesNothing) {
  run_parent("fork_silent", 1);
}

TEST(LeaveInAChild, OfForkByExecHasTwoFolders) {
  const BothWays run = run_parent("fork_exec", 3);
  EXPECT_EQ(run.left[1].functions(), numbers(5, 8));
  EXPECT_EQ(run.left[2].functions(), numbers(20, 23));
}

class LeaveInAChildOfVfork : public testing::TestWithParam<const char*> {};

TEST_P(LeaveInAChildOfVfork, LeavesTheParentsOutputsAlone) {
  run_parent(GetParam(), 1);
}

INSTANTIATE_TEST_SUITE_P(That, LeaveInAChildOfVfork, testing::Values("vfork", "vfork_fails"),
                         [](const auto& how) { return std::string(how.param); });

class LeaveAChildAlone : public testing::TestWithParam<const char*> {};

TEST_P(LeaveAChildAlone, ThatIsANewProgram) {
  const BothWays run = run_parent(GetParam(), 2);
  EXPECT_EQ(run.left[1].functions(), numbers(20, 23));
  EXPECT_NE(run.ended.out.find("the child's line"), std::string::npos) << run.ended.out;
}

INSTANTIATE_TEST_SUITE_P(By, LeaveAChildAlone, testing::Values("vfork_exec", "spawn", "system", "popen"),
                         [](const auto& how) { return std::string(how.param); });

TEST(LeaveInAChild, WhileTheParentsThreadsAnnounce) {
  const BothWays run = run_both_ways(CHILDREN_HOST, {"threads"});
  EXPECT_EQ(run.ended.exit_code, 0) << run.ended.describe();
  EXPECT_EQ(run.ended.out.find("lost"), std::string::npos) << run.ended.out;
  ASSERT_EQ(run.left.size(), 1u);
  EXPECT_TRUE(run.left[0].has_counted_all());
}

TEST(LeaveAsADaemon, GoesOnWithoutDescriptors) {
  const BothWays run = run_both_ways(DAEMON_HOST, {}, "dir=out", 1);  // relative: to where it started
  EXPECT_EQ(run.ended.exit_code, 0) << run.ended.describe();
  ASSERT_EQ(run.daemons.size(), 1u);
  EXPECT_TRUE(WIFEXITED(run.daemons[0]) && WEXITSTATUS(run.daemons[0]) == 8) << run.daemons[0];
  ASSERT_EQ(run.left.size(), 2u);
  EXPECT_EQ(run.left[0].functions(), numbers(0, 5));
  EXPECT_EQ(run.left[1].functions(), numbers(5, 10));
  EXPECT_TRUE(run.left[0].statistics.empty());  // libc's own _exit, which nobody sees
  EXPECT_TRUE(run.left[1].has_counted_all());
}

}  // namespace
