// What was announced is in the map, whatever happens to the process or its threads meanwhile.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <sstream>

#include "tests/host/perfmap/map_run.hpp"

namespace {

using perfmap_reader::Map;
using test_support::Child;
using test_support::Ended;
using test_support::TempFolder;

class PerfmapSurvivesSigkill : public testing::TestWithParam<const char*> {};

TEST_P(PerfmapSurvivesSigkill, AtAnyMoment) {
  constexpr std::uint32_t kFunctions = 20'000;
  const bool is_in_tmp = std::string(GetParam()) == "tmp";
  const std::string options = std::string("formats=perfmap perfmap_at=") + GetParam();
  std::mt19937 random(is_in_tmp ? 1 : 2);
  for (unsigned round = times(5, 100); round > 0; --round) {
    const std::uint32_t target = 1 + static_cast<std::uint32_t>(random()) % kFunctions;
    TempFolder folder;
    const Killed killed = kill_at(folder, KILL_HOST, kFunctions, target, options);
    const MapInTmp in_tmp(killed.pid);
    ASSERT_GE(killed.returned, target);
    ASSERT_EQ(in_tmp.exists(), is_in_tmp);
    const perfmap_reader::Expectations torn{.may_be_torn = true};
    const Map map = is_in_tmp ? judged_map(in_tmp.path(), torn) : only_map(folder, torn);
    ASSERT_GE(map.functions.size(), killed.returned);
    ASSERT_LE(map.functions.size(), killed.returned + 1);  // the one whose call had not returned
    expect_patterns_in_order(map);
  }
}

INSTANTIATE_TEST_SUITE_P(In, PerfmapSurvivesSigkill, testing::Values("tmp", "dir"),
                         [](const auto& in) { return std::string(in.param); });

TEST(PerfmapSurvives, EightThreadsAtOnce) {
  constexpr std::uint32_t kThreads = 8;
  constexpr std::uint32_t kEach = 2'000;
  TempFolder folder;
  const Ended ended = run(with_agent(folder, THREADS_HOST, {std::to_string(kThreads), std::to_string(kEach)},
                                     "formats=perfmap perfmap_at=dir"));
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  const std::vector<std::uint32_t> numbers = numbers_of(only_map(folder));
  ASSERT_EQ(numbers.size(), kThreads * kEach);
  std::vector<std::uint32_t> next(kThreads, 0);
  for (const std::uint32_t i : numbers) {
    ASSERT_LT(i, kThreads * kEach);
    ASSERT_EQ(i % kEach, next[i / kEach]++);  // each thread's own in its order
  }
}

class PerfmapSurvivesFork : public testing::TestWithParam<const char*> {};

// perf gives a child its parent's names for what it inherited: each map has what its process announced.
TEST_P(PerfmapSurvivesFork, WhileThreadsAnnounce) {
  const std::uint32_t children = times(15, 200);
  TempFolder folder;
  Child host(with_agent(folder, FORK_HOST, {std::to_string(children), GetParam()},
                        "formats=perfmap perfmap_at=both"));
  const MapInTmp of_host(host.pid());
  const Ended ended = host.wait(300);
  std::istringstream lines(ended.out);
  unsigned seen = 0;
  for (std::uint32_t i = 0, pid = 0; lines >> pid >> i; ++seen) {
    const MapInTmp in_tmp(static_cast<pid_t>(pid));
    const auto files = test_support::files_below(folder.path(), "perf-" + std::to_string(pid) + ".", "map");
    ASSERT_EQ(files.size(), 1u);
    EXPECT_EQ(numbers_of(judged_map(files.front())), std::vector<std::uint32_t>{i});
    EXPECT_EQ(test_support::read_text(in_tmp.path()), test_support::read_text(files.front()));
  }
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  EXPECT_EQ(seen, children);
  EXPECT_EQ(map_files(folder).size(), children + 1);  // none for the silent child
  std::set<std::uint32_t> own;
  for (const std::uint32_t i : numbers_of(judged_map(of_host.path()))) {
    if (i < 1'000'000) own.insert(i);  // the others are its threads', again and again
  }
  EXPECT_EQ(own, (std::set<std::uint32_t>{0, children + 1}));
}

INSTANTIATE_TEST_SUITE_P(By, PerfmapSurvivesFork, testing::Values("fork", "clone"),
                         [](const auto& by) { return std::string(by.param); });

class PerfmapMoves : public testing::TestWithParam<const char*> {};

TEST_P(PerfmapMoves, AreLinesAtBothPlaces) {
  TempFolder folder;
  const Ended ended = run(with_agent(
      folder, FORMS_HOST, {}, std::string("formats=jitdump,perfmap perfmap_at=dir move=") + GetParam()));
  ASSERT_TRUE(ended.out.starts_with("0x")) << ended.describe();
  const std::uint64_t memory = std::stoull(ended.out, nullptr, 16);
  std::vector<std::uint64_t> places;
  for (const auto& function : only_map(folder).functions) {
    EXPECT_EQ(function.size, 64u);
    if (function.name == "moved") places.push_back(function.address - memory);
  }
  EXPECT_EQ(places, (std::vector<std::uint64_t>{0x4000, 0x4400}));
}

INSTANTIATE_TEST_SUITE_P(As, PerfmapMoves, testing::Values("reload", "record"),
                         [](const auto& as) { return std::string(as.param); });

}  // namespace
