// Sites of live code, switched by patterns.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/host/jitdump/agent_run.hpp"
#include "tests/host/run/run_files.hpp"

namespace {

using test_support::Ended;
using test_support::TempFolder;

std::string log_of(const TempFolder& folder) {
  std::ifstream file(folder.path() + "/out/latest/log");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(Sites, FollowPatternsMovesAndTheEnd) {
  const TempFolder folder;
  const Ended ended = run(with_agent(folder, SITES_HOST, {}, "formats=jitdump,counts hooks=add*,moved"));
  EXPECT_TRUE(ended.succeeded()) << ended.describe();
}

TEST(Sites, RefusedOnesAreInTheLog) {
  const TempFolder folder;
  (void)run(with_agent(folder, SITES_HOST, {}, "formats=jitdump,counts hooks=add*,moved"));
  EXPECT_NE(log_of(folder).find("sites stay off in 'refused': where one should be lie other bytes"),
            std::string::npos)
      << log_of(folder);
}

TEST(Sites, WhoseHooksTakeNoStacksAreTracedWithoutThem) {
  const TempFolder folder;
  const Ended ended = run(with_agent(folder, SITES_HOST, {"start late"}, ""));
  EXPECT_TRUE(ended.succeeded()) << ended.describe();
  EXPECT_NE(
      log_of(folder).find("no call stacks of 'add' and others: the runtime asked for jitquill_site_hook()"),
      std::string::npos)
      << log_of(folder);
}

TEST(Sites, WithoutAnAgentTheyStayOff) {
  const Ended ended = test_support::run({.words = {SITES_HOST}, .environment = {}, .folder = {}});
  EXPECT_TRUE(ended.succeeded()) << ended.describe();
}

TEST(Sites, AreSwitchedWhileThreadsRunThem) {
  const TempFolder folder;
  const std::string flips = std::to_string(times(30'000, 2'000'000));
  const Ended ended = run(with_agent(folder, FLIP_HOST, {flips}, "formats=jitdump,counts hooks=add"));
  EXPECT_TRUE(ended.succeeded()) << ended.describe();
}

// Eight threads, all 64 places in a line; in the usual form a moment of it.
TEST(Sites, AreSwitchedAtEachPlaceInALine) {
  const TempFolder folder;
  const std::string flips = std::to_string(times(500, 100'000));
  const Ended ended =
      run(with_agent(folder, FLIP_HOST, {flips, "8", "places"}, "formats=jitdump,counts hooks=add"), 1'800);
  EXPECT_TRUE(ended.succeeded()) << ended.describe();
  EXPECT_EQ(run_files::stats(folder).at("sites_refused"), 56u);
}

// Each version is called another number of times, at addresses that earlier ones had, and is gone before the
// next one comes.
TEST(Sites, OfCodeThatIsGoneHaveTheNamesOfTheirVersions) {
  const TempFolder folder;
  constexpr unsigned kVersions = 10'000, kThreads = 2;
  const Ended ended =
      run(with_agent(folder, VERSIONS_HOST, {std::to_string(kVersions), std::to_string(kThreads)},
                     "formats=calls,counts hooks=*"),
          120);
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  const auto counts = run_files::counts(folder);
  EXPECT_EQ(counts.size(), kVersions);
  std::map<std::string, unsigned> numbers;
  for (unsigned i = 0; i < kVersions; ++i) {
    const std::string name = "version_" + std::to_string(i);
    numbers[name] = i;
    ASSERT_TRUE(counts.contains(name)) << name;
    ASSERT_EQ(counts.at(name).calls, 1 + i % 7) << name;
  }
  std::size_t calls = 0;
  for (const auto& [thread_name, thread] : run_files::calls(folder).threads) {
    std::vector<unsigned> in_order;
    for (const auto& call : thread.calls) in_order.push_back(numbers.at(call.name));
    EXPECT_TRUE(std::is_sorted(in_order.begin(), in_order.end())) << thread_name;
    calls += in_order.size();
  }
  std::size_t expected = 0;
  for (unsigned i = 0; i < kVersions; ++i) expected += 1 + i % 7;
  EXPECT_EQ(calls, expected);
}

}  // namespace
