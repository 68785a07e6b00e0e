// The host lives through what the agent cannot have, and gets what can be had all the same.
#include <gtest/gtest.h>

#include <set>

#include "tests/host/jitdump/agent_run.hpp"

namespace {

using test_support::Ended;
using test_support::TempFolder;

TEST(OutputsTrouble, AFullPipeIsNotWaitedFor) {
  TempFolder folder;
  const Ended ended = run(with_agent(folder, TROUBLE_HOST, {"pipe"}, "bad=1 verbose=1"), 30);
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  EXPECT_EQ(only_dump(folder).functions.size(), 1'000u);
}

TEST(OutputsTrouble, NothingIsSaidIntoAFileThatHasTheNumberOfStderr) {
  TempFolder folder;
  const Ended ended = run(with_agent(folder, TROUBLE_HOST, {"number"}, "bad=1 verbose=1"), 30);
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  EXPECT_EQ(test_support::read_text(folder.file("hosts_own")), "");
  EXPECT_EQ(ended.err, "");
}

// sample= has nothing that shows samples: the drain says so.
TEST(OutputsTrouble, NothingIsSaidWhereNoLogIsWanted) {
  TempFolder folder;
  const Ended silent =
      run(with_agent(folder, FILL_HOST, {"10", "5", "unloaded"}, "formats=jitdump,calls sample=99 log=none"));
  EXPECT_TRUE(silent.succeeded()) << silent.describe();
  EXPECT_EQ(silent.err, "");
  const Ended verbose = run(with_agent(folder, FILL_HOST, {"10", "5", "unloaded"},
                                       "formats=jitdump,calls sample=99 log=none verbose=1"));
  EXPECT_NE(verbose.err.find("none of the formats shows samples"), std::string::npos) << verbose.describe();
}

// One announcement meets the trouble; its function is in the next folder with all that lives.
TEST(OutputsTrouble, AFolderThatCannotBeOpenedIsTriedAgain) {
  TempFolder folder;
  const Ended ended = run(with_agent(folder, TROUBLE_HOST, {"descriptors"}, "max_bytes=64k"), 30);
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  std::set<std::uint32_t> all;
  for (const std::string& file : dump_files(folder)) {
    for (const auto& function : judged(file).functions) all.insert(number_of(function));
  }
  EXPECT_EQ(all.size(), 1'000u);
}

class OutputsTroubleMemory : public testing::TestWithParam<const char*> {};

TEST_P(OutputsTroubleMemory, CostsFunctionsAtMost) {
  TempFolder folder;
  const std::string formats = std::string("formats=") + GetParam();
  const Ended ended = run(with_agent(folder, TROUBLE_HOST, {"memory"}, formats), 30);
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  EXPECT_GE(std::stoi(ended.out), 1);
}

INSTANTIATE_TEST_SUITE_P(With, OutputsTroubleMemory, testing::Values("jitdump", "gdb", "jitdump,gdb"),
                         [](const auto& with) {
                           const std::string formats = with.param;
                           return formats == "jitdump" ? "Dump" : formats == "gdb" ? "Gdb" : "Both";
                         });

}  // namespace
