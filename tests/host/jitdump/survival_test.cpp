// What was announced is in the dump, whatever happens to the process or its threads meanwhile.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <sstream>

#include "tests/host/jitdump/agent_run.hpp"

namespace {

using jitdump_reader::Dump;
using jitdump_reader::Expectations;
using jitdump_reader::Function;
using test_support::Child;
using test_support::Ended;
using test_support::TempFolder;

void expect_patterns_in_order(const Dump& dump) {
  for (std::uint32_t i = 0; i < dump.functions.size(); ++i) {
    ASSERT_EQ(differences(dump.functions[i], i), "");
  }
}

TEST(JitdumpSurvives, SigkillAtAnyMoment) {
  constexpr std::uint32_t kFunctions = 20'000;
  std::mt19937 random(20'000);
  for (unsigned round = times(10, 200); round > 0; --round) {
    const std::uint32_t target = 1 + static_cast<std::uint32_t>(random()) % kFunctions;
    TempFolder folder;
    const std::uint32_t returned = kill_at(folder, KILL_HOST, kFunctions, target).returned;
    ASSERT_GE(returned, target);
    Expectations killed;
    killed.may_be_torn = true;
    killed.nothing_freed = true;
    const Dump dump = only_dump(folder, killed);
    ASSERT_GE(dump.functions.size(), returned);
    ASSERT_LE(dump.functions.size(), returned + 1);  // the one whose call had not returned
    expect_patterns_in_order(dump);
  }
}

TEST(JitdumpSurvives, EightThreadsAtOnce) {
  constexpr std::uint32_t kThreads = 8;
  constexpr std::uint32_t kEach = 2'000;
  TempFolder folder;
  const Ended ended =
      run(with_agent(folder, THREADS_HOST, {std::to_string(kThreads), std::to_string(kEach)}));
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  Expectations expectations;
  expectations.nothing_freed = true;
  const Dump dump = only_dump(folder, expectations);
  ASSERT_EQ(dump.functions.size(), kThreads * kEach);
  std::map<std::uint32_t, std::vector<std::uint32_t>> by_thread;
  for (const Function& function : dump.functions) {
    const std::uint32_t i = number_of(function);
    ASSERT_EQ(differences(function, i), "");
    by_thread[function.tid].push_back(i);
  }
  ASSERT_EQ(by_thread.size(), kThreads);
  for (const auto& [tid, numbers] : by_thread) {
    ASSERT_EQ(numbers.size(), kEach);
    for (std::uint32_t k = 0; k < kEach; ++k) ASSERT_EQ(numbers[k], numbers[0] + k);
  }
}

class JitdumpSurvivesCancel : public testing::TestWithParam<const char*> {};

TEST_P(JitdumpSurvivesCancel, OfAnAnnouncingThread) {
  const unsigned rounds = times(200, 5'000);
  TempFolder folder;
  const Ended ended = run(with_agent(folder, CANCEL_HOST, {std::to_string(rounds), GetParam()}), 300);
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  const Dump dump = only_dump(folder);
  std::map<std::uint32_t, std::uint32_t> announced;
  for (const Function& function : dump.functions) {
    const std::uint32_t i = number_of(function);
    ASSERT_EQ(differences(function, i), "");
    ++announced[i];
  }
  std::istringstream lines(ended.out);
  unsigned seen = 0;
  for (std::uint32_t round = 0, returned = 0; lines >> round >> returned; ++seen) {
    ASSERT_GE(announced[2 * round], returned);
    ASSERT_LE(announced[2 * round], returned + 1);  // cancelled between the call's end and the count
    ASSERT_EQ(announced[2 * round + 1], 1u);        // from the main thread, right after
  }
  EXPECT_EQ(seen, rounds);
}

INSTANTIATE_TEST_SUITE_P(Types, JitdumpSurvivesCancel, testing::Values("deferred", "asynchronous"),
                         [](const auto& type) { return std::string(type.param); });

TEST(JitdumpSurvives, ASignalHandlerThatAnnounces) {
  constexpr std::uint32_t kMost = 60'000;  // as in signal_host.cpp
  const std::uint32_t handled = times(500, 20'000);
  TempFolder folder;
  const Ended ended = run(with_agent(folder, SIGNAL_HOST, {std::to_string(handled)}), 300);
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  std::uint32_t of_main = 0;
  std::uint32_t of_second = 0;
  std::uint32_t of_handler = 0;
  std::istringstream(ended.out) >> of_main >> of_second >> of_handler;
  ASSERT_EQ(of_handler, handled);
  Expectations expectations;
  expectations.nothing_freed = true;
  const Dump dump = only_dump(folder, expectations);
  std::set<std::uint32_t> announced;
  for (const Function& function : dump.functions) {
    const std::uint32_t i = number_of(function);
    ASSERT_EQ(differences(function, i), "");
    ASSERT_TRUE(announced.insert(i).second) << i;
  }
  for (std::uint32_t k = 0; k < of_main; ++k) ASSERT_TRUE(announced.count(k));
  for (std::uint32_t k = 0; k < of_second; ++k) ASSERT_TRUE(announced.count(kMost + k));
  for (std::uint32_t k = 0; k < of_handler; ++k) ASSERT_TRUE(announced.count(2 * kMost + k));
  EXPECT_EQ(announced.size(), of_main + of_second + of_handler);
  EXPECT_GT(of_main + of_second, handled);
}

TEST(JitdumpSurvives, AFaultInTheBytesWhoseHandlerAnnounces) {
  TempFolder folder;
  const Ended ended = run(with_agent(folder, FAULT_HOST, {}));
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  const Dump dump = only_dump(folder);
  ASSERT_EQ(dump.functions.size(), 2u);
  std::set<std::uint32_t> announced;
  for (const Function& function : dump.functions) {
    const std::uint32_t i = number_of(function);
    EXPECT_EQ(differences(function, i), "");
    announced.insert(i);
  }
  EXPECT_EQ(announced, (std::set<std::uint32_t>{0, 1}));
}

class JitdumpSurvivesFork : public testing::TestWithParam<const char*> {};

TEST_P(JitdumpSurvivesFork, WhileThreadsAnnounce) {
  const std::uint32_t children = times(30, 500);
  TempFolder folder;
  const Ended ended = run(with_agent(folder, FORK_HOST, {std::to_string(children), GetParam()}), 300);
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  EXPECT_EQ(dump_files(folder).size(), children + 1);  // none for the silent child
  std::istringstream lines(ended.out);
  unsigned seen = 0;
  for (std::uint32_t pid = 0, i = 0; lines >> pid >> i; ++seen) {
    const auto files = test_support::files_below(folder.path(), "jit-" + std::to_string(pid) + ".", "dump");
    ASSERT_EQ(files.size(), 1u);
    const Dump dump = judged(files.front());
    ASSERT_EQ(dump.functions.size(), 1u);
    EXPECT_EQ(differences(dump.functions[0], i), "");
    EXPECT_EQ(dump.functions[0].tid, pid);
  }
  EXPECT_EQ(seen, children);
}

INSTANTIATE_TEST_SUITE_P(By, JitdumpSurvivesFork, testing::Values("fork", "clone"),
                         [](const auto& by) { return std::string(by.param); });

TEST(JitdumpSurvives, ForkInTheParent) {
  TempFolder folder;
  Child host(with_agent(folder, FORK_HOST, {"3", "fork"}));
  const Ended ended = host.wait(60);
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  const auto files =
      test_support::files_below(folder.path(), "jit-" + std::to_string(host.pid()) + ".", "dump");
  ASSERT_EQ(files.size(), 1u);
  const Dump dump = judged(files.front());
  std::set<std::uint32_t> own;
  for (const Function& function : dump.functions) {
    if (const std::uint32_t i = number_of(function); i < 1'000'000) own.insert(i);
  }
  EXPECT_EQ(own, (std::set<std::uint32_t>{0, 4}));
}

}  // namespace
