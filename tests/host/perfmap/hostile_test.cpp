// Files, disks and stacks at their limit: the host lives, and the map is whole.
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/host/perfmap/map_run.hpp"

namespace {

using test_support::Child;
using test_support::Ended;
using test_support::TempFolder;

struct Limit {
  const char* limit;
  const char* signal;  // what the host does with it
  unsigned least;      // functions that must come through
  unsigned most;
};

class PerfmapLimits : public testing::TestWithParam<Limit> {};

TEST_P(PerfmapLimits, CostFunctionsAtMost) {
  const Limit& limit = GetParam();
  TempFolder folder;
  Child host(with_agent(folder, LIMITS_HOST, {limit.limit, limit.signal}, "formats=perfmap perfmap_at=both"));
  const MapInTmp in_tmp(host.pid());
  const Ended ended = host.wait(60);
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  const auto done = static_cast<unsigned>(std::atoi(ended.out.c_str()));
  EXPECT_GE(done, limit.least);
  EXPECT_LE(done, limit.most);
  if (done == 0) {
    EXPECT_TRUE(map_files(folder).empty());
    EXPECT_FALSE(in_tmp.exists());
    return;
  }
  const perfmap_reader::Map map = only_map(folder);
  EXPECT_EQ(map.functions.size(), done);
  expect_patterns_in_order(map);
  EXPECT_EQ(judged_map(in_tmp.path()).functions.size(), done);
}

INSTANTIATE_TEST_SUITE_P(Of, PerfmapLimits,
                         testing::Values(Limit{"fsize=5000", "default", 150, 300},
                                         Limit{"fsize=5000", "blocked", 150, 300},
                                         Limit{"fsize=5000", "handled", 150, 300},
                                         Limit{"nofile=3", "default", 0, 0},
                                         Limit{"nofile=8", "default", 400, 400}),
                         [](const auto& limit) {
                           std::string name = std::string(limit.param.limit) + "_" + limit.param.signal;
                           name[name.find('=')] = '_';
                           return name;
                         });

// The log has no place either.
TEST(PerfmapFullDisk, IsSaidOnStderrAndTheMapIsWhole) {
  TempFolder folder;
  auto command = with_agent(folder, LIMITS_HOST, {"disk=8192", "default"});
  for (auto& [name, value] : command.environment) {
    if (name == "JITQUILL_OPTIONS") value = "formats=perfmap perfmap_at=dir";  // the host says the folder
  }
  const Ended ended = run(command);
  if (ended.exit_code == 77) GTEST_SKIP() << "no mounts here";
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  EXPECT_NE(ended.err.find("switched off"), std::string::npos) << ended.err;
  const auto done = static_cast<unsigned>(std::atoi(ended.out.c_str()));
  EXPECT_GT(done, 200u);
  EXPECT_LT(done, 400u);
  const perfmap_reader::Map map = only_map(folder);
  EXPECT_EQ(map.functions.size(), done);
  expect_patterns_in_order(map);
}

class PerfmapSmallStack : public testing::TestWithParam<const char*> {};

TEST_P(PerfmapSmallStack, IsEnough) {
  TempFolder folder;
  Child host(with_agent(folder, STACK_HOST, {GetParam()}, "formats=jitdump,perfmap"));
  const MapInTmp in_tmp(host.pid());
  const Ended ended = host.wait(60);
  EXPECT_TRUE(ended.succeeded()) << ended.describe();
  EXPECT_EQ(judged_map(in_tmp.path()).functions.size(), 2u);
}

INSTANTIATE_TEST_SUITE_P(Of, PerfmapSmallStack, testing::Values("thread", "handler"),
                         [](const auto& of) { return std::string(of.param); });

}  // namespace
