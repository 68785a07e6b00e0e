// The hundred-thousandth function costs what the first cost. Memory and writes are asserted; time is a figure
// (tests/bench/steady.cpp).
#include <gtest/gtest.h>

#include <sstream>

#include "tests/host/jitdump/agent_run.hpp"

namespace {

constexpr std::uint32_t kFunctions = 100'000;

struct Cost {
  std::int64_t memory;
  std::uint64_t writes;
};

// Of each round.
std::vector<Cost> costs(const char* formats, const char* kind, std::uint32_t rounds) {
  test_support::TempFolder folder;
  const auto ended =
      run(with_agent(folder, STEADY_HOST, {std::to_string(kFunctions), std::to_string(rounds), kind},
                     std::string("formats=") + formats),
          300);
  EXPECT_TRUE(ended.succeeded()) << ended.describe();
  std::vector<Cost> costs;
  std::istringstream lines(ended.out);
  for (Cost cost{}; lines >> cost.memory >> cost.writes;) costs.push_back(cost);
  EXPECT_EQ(costs.size(), rounds);
  costs.resize(rounds);
  return costs;
}

struct Live {
  const char* formats;
  const char* kind;
  std::uint32_t most_memory;  // bytes a function
  std::uint32_t writes;       // a function
};

class SteadyLive : public testing::TestWithParam<Live> {};

TEST_P(SteadyLive, FunctionsCostTheirPartOfMemoryAndOneWrite) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the sanitizer has memory of its own";
#endif
  const Cost cost = costs(GetParam().formats, GetParam().kind, 1).front();
  EXPECT_GT(cost.memory, kFunctions * 64) << "the measure is blind";
  EXPECT_LE(cost.memory, kFunctions * GetParam().most_memory);
  EXPECT_EQ(cost.writes, kFunctions * GetParam().writes);
}

// What may move is remembered: here name, lines and frame, 140 bytes, and the rest of the announcement.
INSTANTIATE_TEST_SUITE_P(Of, SteadyLive,
                         testing::Values(Live{"jitdump", "plain", 200, 1}, Live{"jitdump", "packed", 200, 1},
                                         Live{"jitdump", "movable", 700, 1}, Live{"gdb", "plain", 600, 0}),
                         [](const auto& live) {
                           return std::string(live.param.formats) + "_" + live.param.kind;
                         });

struct Unloaded {
  const char* formats;
  std::uint32_t settled;  // the round after which nothing grows: gdb's objects fill each other's gaps first
};

class SteadyUnloaded : public testing::TestWithParam<Unloaded> {};

TEST_P(SteadyUnloaded, FunctionsLeaveNothing) {
  constexpr std::uint32_t kRounds = 10;
  const auto rounds = costs(GetParam().formats, "small", kRounds);
  for (std::uint32_t round = GetParam().settled; round < kRounds; ++round) {
    EXPECT_EQ(rounds[round].memory, rounds[round - 1].memory) << round;
  }
}

INSTANTIATE_TEST_SUITE_P(Of, SteadyUnloaded, testing::Values(Unloaded{"jitdump", 1}, Unloaded{"gdb", 5}),
                         [](const auto& unloaded) { return std::string(unloaded.param.formats); });

}  // namespace
