#include "agent/drain/clock.hpp"

#include <gtest/gtest.h>

#include <random>

namespace jitquill::drain {
namespace {

TEST(DrainClock, IsExactAtThePairsAndStraightBetween) {
  Clock clock;
  ASSERT_TRUE(clock.add(3'000, 1'000));
  ASSERT_TRUE(clock.add(6'000, 2'000));
  ASSERT_TRUE(clock.add(12'000, 5'000));
  EXPECT_EQ(clock.ns_of(3'000), 1'000u);
  EXPECT_NEAR(static_cast<double>(clock.ns_of(4'500)), 1'500, 1);
  EXPECT_EQ(clock.ns_of(6'000), 2'000u);
  EXPECT_NEAR(static_cast<double>(clock.ns_of(8'000)), 3'000, 1);
}

TEST(DrainClock, GoesOnBeforeTheFirstAndBehindTheLastPair) {
  Clock clock;
  ASSERT_TRUE(clock.add(3'000, 1'000));
  ASSERT_TRUE(clock.add(6'000, 2'000));
  EXPECT_NEAR(static_cast<double>(clock.ns_of(9'000)), 3'000, 1);
  EXPECT_NEAR(static_cast<double>(clock.ns_of(1'500)), 500, 1);
  EXPECT_LE(clock.ns_of(0), 1u);
  Clock early;
  ASSERT_TRUE(early.add(30'000, 1'000));
  ASSERT_TRUE(early.add(30'001, 2'000));
  EXPECT_EQ(early.ns_of(5), 0u);  // not below 0
}

TEST(DrainClock, KeepsSecondsOfNanosecondsExact) {
  Clock clock;  // 2.9 GHz, a pair a second, 30 hours after the start
  const std::uint64_t ticks = 313'200'000'000'000, ns = 108'000'000'000'000;
  ASSERT_TRUE(clock.add(ticks, ns));
  ASSERT_TRUE(clock.add(ticks + 2'900'000'000, ns + 1'000'000'000));
  for (std::uint64_t i = 0; i <= 1'000; ++i)
    EXPECT_NEAR(static_cast<double>(clock.ns_of(ticks + i * 2'900'000) - ns),
                static_cast<double>(i * 1'000'000), 1.5);
}

TEST(DrainClock, TakesALaterPairInPlaceOfTheLast) {
  Clock clock;
  ASSERT_TRUE(clock.add(1'000, 1'000));
  EXPECT_FALSE(clock.move_last(2'000, 2'000));  // it is the first, too
  ASSERT_TRUE(clock.add(1'100, 1'900));         // read late
  EXPECT_FALSE(clock.move_last(1'100, 2'000));
  ASSERT_TRUE(clock.move_last(101'000, 101'000));
  EXPECT_EQ(clock.pairs(), 2u);
  EXPECT_EQ(clock.ns_of(201'000), 201'000u);
}

TEST(DrainClock, LeavesOutPairsThatRunBackwards) {
  Clock clock;
  ASSERT_TRUE(clock.add(100, 100));
  EXPECT_FALSE(clock.add(100, 200));
  EXPECT_FALSE(clock.add(50, 200));
  EXPECT_FALSE(clock.add(200, 99));
  EXPECT_TRUE(clock.add(200, 100));
  EXPECT_EQ(clock.ns_of(150), 100u);
}

TEST(DrainClock, NeverRunsBackwards) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 100; ++round) {
    Clock clock;
    std::uint64_t ticks = random() % 1'000'000, ns = random() % 1'000'000;
    for (int i = 0; i < 100; ++i) (void)clock.add(ticks += 1 + random() % 10'000, ns += random() % 10'000);
    std::uint64_t before = 0;
    for (std::uint64_t t = 0; t < ticks + 20'000; t += random() % 97) {
      const std::uint64_t now = clock.ns_of(t);
      ASSERT_GE(now, before);
      before = now;
    }
    Clock again = clock;  // asked in any order it answers the same
    for (int i = 0; i < 100; ++i) {
      const std::uint64_t t = random() % ticks;
      EXPECT_EQ(clock.ns_of(t), Clock(again).ns_of(t));
    }
  }
}

TEST(DrainClock, RemembersTheFirstOfManyPairs) {
  Clock clock;
  for (std::uint64_t i = 0; i < 1'000; ++i) ASSERT_TRUE(clock.add(1'000 * i + 1, 500 * i));
  EXPECT_LE(clock.pairs(), 65u);
  for (const std::uint64_t i : {0u, 7u, 500u, 970u, 999u})
    EXPECT_NEAR(static_cast<double>(clock.ns_of(1'000 * i + 1)), static_cast<double>(500 * i), 1.5);
}

TEST(DrainClock, SurvivesAnyPairs) {
  Clock clock;
  EXPECT_EQ(clock.ns_of(77), 77u);
  ASSERT_TRUE(clock.add(0, 0));
  ASSERT_TRUE(clock.add(1, ~0ull));
  (void)clock.ns_of(0);
  (void)clock.ns_of(~0ull);
}

}  // namespace
}  // namespace jitquill::drain
