// jitquill_stop() and jitquill_start(): each output has its own calls, and no others.
#include <gtest/gtest.h>

#include "tests/host/survival/words.hpp"

namespace {

using test_support::TempFolder;

TEST(Restart, EachOutputHasItsOwnCalls) {
  for (const std::string policy : {"lossless", "drop", "flight"}) {
    SCOPED_TRACE(policy);
    const TempFolder folder;
    const auto outputs =
        words::run(folder,
                   {"new:a", "call:a:100", "thread:a:10", "stop", "call:a:7", "start", "new:b", "call:b:50",
                    "thread:b:2000", "stop", "start", "new:c", "function:i", "call:c:5", "call:i:3"},
                   "policy=" + policy);
    EXPECT_EQ(outputs.size(), 3u);
    EXPECT_TRUE(has(outputs, {{"a", 110}}));
    EXPECT_TRUE(has(outputs, {{"b", 2050}}));
    EXPECT_TRUE(has(outputs, {{"c", 5}, {"i", 3}}));
  }
}

TEST(Restart, OfManyIsAsTheFirst) {
  const TempFolder folder;
  std::vector<std::string> said;
  for (int i = 0; i < 20; ++i) {
    for (const char* word : {"start", "new:a", "call:a:1000", "stop"}) said.emplace_back(word);
  }
  const auto outputs = words::run(folder, said);
  EXPECT_EQ(outputs.size(), 20u);
  for (const auto& output : outputs) EXPECT_EQ(output.calls, (words::Calls{{"a", 1000}})) << output.folder;
}

TEST(Restart, IsRecoveredAfterAKill) {
  const TempFolder folder;
  test_support::Child child(
      words::command(folder, {"new:a", "call:a:100", "stop", "start", "new:b", "call:b:50", "kill"}));
  EXPECT_EQ(child.wait(60).signal, SIGKILL);
  const auto ended = test_support::run({.words = {JITQUILL_COMMAND, "recover", folder.file("out")},
                                        .environment = {},
                                        .folder = folder.path()});
  EXPECT_TRUE(ended.succeeded()) << ended.describe();
  const auto outputs = words::outputs(folder);
  EXPECT_TRUE(has(outputs, {{"a", 100}}));
  EXPECT_TRUE(has(outputs, {{"b", 50}}));
  run_files::expect_no_lanes(child.pid());
}

}  // namespace
