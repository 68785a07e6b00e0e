// Sites of live code, switched by patterns.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "tests/host/jitdump/agent_run.hpp"

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
  const std::string flips = std::to_string(times(100'000, 2'000'000));
  const Ended ended = run(with_agent(folder, FLIP_HOST, {flips}, "formats=jitdump,counts hooks=add"));
  EXPECT_TRUE(ended.succeeded()) << ended.describe();
}

}  // namespace
