// Children of all kinds, and programs that follow: each process has its own calls, and nothing else is left.
#include <gtest/gtest.h>
#include <unistd.h>

#include <map>

#include "tests/host/survival/words.hpp"

namespace {

using test_support::TempFolder;
using Words = std::vector<std::string>;

// At the first new code; what it inherited has its names.
TEST(Children, OfAForkHaveTheirOwnCalls) {
  for (const char* fork : {"fork", "handler-fork"}) {
    SCOPED_TRACE(fork);
    const TempFolder folder;
    const auto outputs =
        words::run(folder, {"new:a", "function:i", "call:a:10", fork, "new:b", "call:a:5", "call:b:3",
                            "call:i:2", "end", "call:a:1", fork, "call:a:4", "end", "call:i:1"});
    EXPECT_EQ(outputs.size(), 2u);
    EXPECT_TRUE(has(outputs, {{"a", 11}, {"i", 1}}));
    EXPECT_TRUE(has(outputs, {{"a", 5}, {"b", 3}, {"i", 2}}));
  }
}

TEST(Children, OfChildrenToo) {
  const TempFolder folder;
  const auto outputs = words::run(
      folder, {"new:a", "call:a:1", "fork", "fork", "new:c", "call:a:2", "call:c:3", "end", "new:b",
               "call:a:4", "call:b:5", "fork", "new:d", "call:a:6", "call:b:7", "call:d:8", "end", "end"});
  EXPECT_EQ(outputs.size(), 4u);
  EXPECT_TRUE(has(outputs, {{"a", 1}}));
  EXPECT_TRUE(has(outputs, {{"a", 2}, {"c", 3}}));
  EXPECT_TRUE(has(outputs, {{"a", 4}, {"b", 5}}));
  EXPECT_TRUE(has(outputs, {{"a", 6}, {"b", 7}, {"d", 8}}));
}

TEST(Children, HaveNoneWhereTheyAreNotWanted) {
  const TempFolder folder;
  const auto outputs = words::run(
      folder, {"new:a", "call:a:1", "fork", "new:b", "call:b:1", "call:a:1", "end"}, "children=off");
  EXPECT_EQ(outputs.size(), 1u);
  EXPECT_TRUE(has(outputs, {{"a", 1}}));
}

TEST(Children, ThatCloseAllDescriptorsSayThatNamesAreMissing) {
  const TempFolder folder;
  const auto outputs =
      words::run(folder, {"new:a", "call:a:1", "fork", "close-all", "new:b", "call:b:2", "end", "call:a:2"});
  EXPECT_TRUE(has(outputs, {{"a", 3}}));
  EXPECT_TRUE(has(outputs, {{"b", 2}}));
  std::string said;
  for (const auto& output : outputs) said += test_support::read_text(output.folder + "/log");
  EXPECT_NE(said.find("have no names in the outputs of calls: the child closed"), said.npos) << said;
}

TEST(Children, ThatBecomeOtherProgramsLeaveTheirParentsAlone) {
  for (const char* other : {"vfork:/bin/true", "spawn:/bin/true", "system:true; true"}) {
    SCOPED_TRACE(other);
    const TempFolder folder;
    const auto outputs = words::run(folder, {"new:a", "call:a:3", other, "call:a:4"});
    EXPECT_EQ(outputs.size(), 1u);
    EXPECT_TRUE(has(outputs, {{"a", 7}}));
  }
}

TEST(Children, OfAChildThatBecomesAnotherProgram) {
  const TempFolder folder;
  const auto outputs = words::run(folder, {"new:a", "call:a:3", "fork", "new:b", "call:b:2", "exec:/bin/true",
                                           "end", "call:a:1", "fork", "exec:/bin/true", "end"});
  EXPECT_EQ(outputs.size(), 2u);
  EXPECT_TRUE(has(outputs, {{"a", 4}}));
  EXPECT_TRUE(has(outputs, {{"b", 2}}));
}

TEST(Ends, AreWholeHoweverTheyAreMade) {
  for (const char* end : {"_exit", "quick_exit", "exec:/bin/true", "thread-exit"}) {
    SCOPED_TRACE(end);
    const TempFolder folder;
    const auto outputs = words::run(folder, {"new:a", "call:a:1000", "thread:a:7", end});
    EXPECT_EQ(outputs.size(), 1u);
    EXPECT_TRUE(has(outputs, {{"a", 1007}}));
  }
}

// What is there afterwards is what `jitquill run` finishes.
TEST(Ends, ThatTellNobodyAreRecovered) {
  for (const char* end : {"abort", "segv", "kill"}) {
    SCOPED_TRACE(end);
    const TempFolder folder;
    const auto ended =
        test_support::run({.words = {JITQUILL_COMMAND, "run", "--dir", "out", "--formats", "calls,counts",
                                     "--hooks", "*", "--", WORDS_HOST, "new:a", "call:a:1000", end},
                           .environment = {},
                           .folder = folder.path()});
    EXPECT_NE(ended.signal, 0) << ended.describe();
    const auto outputs = words::outputs(folder);
    ASSERT_EQ(outputs.size(), 1u);
    EXPECT_TRUE(has(outputs, {{"a", 1000}}));
    EXPECT_FALSE(std::filesystem::is_symlink(outputs[0].folder + "/lanes"));
  }
}

TEST(Ends, OfAProcessThatGoesOnAsADaemon) {
  const TempFolder folder;
  test_support::Child child(
      words::command(folder, {"new:a", "call:a:10", "daemon", "new:b", "call:a:5", "call:b:1"}));
  EXPECT_TRUE(child.wait(60).succeeded());
  const auto ended = [&] { return test_support::files_below(folder.path(), "stats", "").size(); };
  for (int i = 0; i < 1'000 && ended() == 0; ++i) usleep(10'000);  // the parent leaves none
  (void)test_support::run({.words = {JITQUILL_COMMAND, "recover", folder.file("out")},
                           .environment = {},
                           .folder = folder.path()});
  const auto outputs = words::outputs(folder);
  EXPECT_TRUE(has(outputs, {{"a", 10}}));
  EXPECT_TRUE(has(outputs, {{"a", 5}, {"b", 1}}));
  run_files::expect_no_lanes(child.pid());
}

// An exec that fails: tracing is over, and it is said.
TEST(Ends, ByAnExecThatFailsAreSaid) {
  const TempFolder folder;
  const auto outputs =
      words::run(folder, {"new:a", "call:a:10", "exec:/nowhere", "call:a:5", "new:b", "call:b:1"});
  ASSERT_FALSE(outputs.empty());
  std::uint64_t calls = 0;
  for (const auto& output : outputs) {
    for (const auto& [name, count] : output.calls) calls += count;
  }
  const std::string log = test_support::read_text(outputs[0].folder + "/log");
  EXPECT_TRUE(calls == 16 || log.find("exec") != log.npos) << calls << log;
}

}  // namespace
