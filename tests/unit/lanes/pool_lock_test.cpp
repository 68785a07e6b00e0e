// Threads that find the pool's lists locked: what they lose, and that they lose it only as long as that
// lasts.
#include "agent/lanes/pool_lock.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <thread>

#include "agent/lanes/lane.hpp"
#include "agent/lanes/pool.hpp"
#include "tests/unit/lanes/lane_run.hpp"
#include "tests/unit/lanes/own_process.hpp"

namespace {

using namespace jitquill::lanes;
using lanes_test::FoundLane;
using lanes_test::in_own_process;
using lanes_test::LaneRun;

PoolPage& page() {
  return *g_pool_page.load();
}

void put_some(std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) put(RecordKind::kEnter, i, 1);
}

std::uint64_t entries_in(const FoundLane& lane) {
  std::uint64_t entries = 0;
  for (const auto& record : lane.records) entries += record.kind == RecordKind::kEnter;
  return entries;
}

void expect_placed(const FoundLane& lane, std::size_t chunk, std::uint64_t lost) {
  ASSERT_GT(lane.chunks.size(), chunk);
  const ChunkHeader& header = *lane.chunks[chunk].header;
  EXPECT_EQ(header.lost_before, lost);
  EXPECT_NE(header.lost_since_ticks, 0u);
  EXPECT_LT(header.lost_since_ticks, header.start_ticks);
}

TEST(PoolLock, IsWaitedForLongerWhereNothingMayBeLost) {
  in_own_process([] {
    const LaneRun run;
    ASSERT_EQ(run.started(), 0);
    std::optional<PoolLock> held(std::in_place, page());
    const auto since = std::chrono::steady_clock::now();
    std::thread late([] { put_some(10); });
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
    const auto lasted = std::chrono::steady_clock::now() - since;
    held.reset();
    late.join();
    if (lasted > std::chrono::milliseconds(800)) _exit(lanes_test::kSkipped);  // this thread had no CPU
    EXPECT_EQ(entries_in(run.only_lane()), 10u);
    EXPECT_EQ(run.only_lane().lost + Pool::lost_without_lane(), 0u);
  });
}

// Each of these records would wait, if not for the first.
TEST(PoolLock, WhoeverKeepsItForGoodKeepsOneRecordWaiting) {
  in_own_process([] {
    const LaneRun run({.policy = Policy::kDrop});
    ASSERT_EQ(run.started(), 0);
    constexpr std::uint64_t kMany = 20'000;
    std::optional<PoolLock> held(std::in_place, page());
    std::thread([&] {
      put_some(kMany);
      EXPECT_EQ(Pool::lost_without_lane(), kMany);
      EXPECT_EQ(page().header().lost_without_lane.load(), kMany);
      held.reset();
      put_some(7);
    }).join();
    const FoundLane lane = run.only_lane();
    EXPECT_EQ(entries_in(lane), 7u);
    EXPECT_EQ(Pool::lost_without_lane() + page().header().lost_without_lane.load(), 0u);
    EXPECT_EQ(lane.lost, kMany);
    expect_placed(lane, 0, kMany);
  });
}

TEST(PoolLock, AThreadThatGotNoChunkForItAsksAgain) {
  in_own_process([] {
    const LaneRun run({.policy = Policy::kDrop});
    ASSERT_EQ(run.started(), 0);
    std::thread([] {
      put_some(kRecordsPerBlock);  // its first chunk is full
      std::optional<PoolLock> held;
      std::thread([&] { held.emplace(page()); }).join();
      put_some(10);
      held.reset();
      put_some(5);
    }).join();
    const FoundLane lane = run.only_lane();
    EXPECT_EQ(entries_in(lane), kRecordsPerBlock + 5);
    EXPECT_EQ(lane.lost, 10u);
    expect_placed(lane, 1, 10);
  });
}

}  // namespace
