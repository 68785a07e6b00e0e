// What happens when there is no room: each record is there, or counted where it is missing.
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <thread>

#include "agent/lanes/lane.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/unit/lanes/lane_run.hpp"
#include "tests/unit/lanes/own_process.hpp"

namespace lanes_test {
namespace {

using namespace jitquill::lanes;

// Room for one chunk of each size, and no more.
constexpr std::uint64_t kSmall = kChunksAt + kChunkSizes[0] + kChunkSizes[1] + kChunkSizes[2];

void put_numbered(std::uint64_t from, std::uint64_t count) {
  for (std::uint64_t i = from; i < from + count; ++i) put(RecordKind::kEnter, i, 1);
}

// Gives back the chunks that threads are done with, after adding their records to a count.
class Drain {
 public:
  void once() {
    const auto view = PoolView::over(Pool::memory());
    std::vector<PoolView::Chunk> full;
    view->for_each_chunk([&](const PoolView::Chunk& chunk) {
      if (chunk.header->state.load(std::memory_order_acquire) != ChunkState::kUsed) return;
      if (is_done_with(view->lane(chunk.header->lane), chunk.header->number)) full.push_back(chunk);
    });
    for (const PoolView::Chunk& chunk : full) {
      for (std::size_t i = 0; i < chunk.records(); ++i)
        drained_ += view->record(chunk, i).when.load(std::memory_order_acquire) != 0;
      lost_ += chunk.header->lost_before;
      Pool::give_back(chunk.offset);
    }
  }
  std::uint64_t drained() const { return drained_; }
  std::uint64_t lost() const { return lost_; }

 private:
  std::uint64_t drained_ = 0;
  std::uint64_t lost_ = 0;
};

TEST(Policy, DropCountsAndPlacesWhatItDrops) {
  in_own_process([] {
    const LaneRun run({.memory_bytes = kSmall, .policy = Policy::kDrop});
    constexpr std::uint64_t kMany = 100'000;
    put_numbered(0, kMany);
    const FoundLane full = run.only_lane();
    EXPECT_EQ(full.holes, 0u);
    EXPECT_EQ(full.records.size() + full.lost, kMany);
    EXPECT_EQ(full.records.back().what, full.records.size() - 1);  // the newest are missing
    Drain drain;
    drain.once();
    EXPECT_EQ(drain.drained(), full.records.size());
    put_numbered(kMany, 1);
    const FoundLane after = run.only_lane();
    EXPECT_EQ(after.records.back().what, kMany);
    const ChunkHeader& newest = *after.chunks.back().header;
    EXPECT_EQ(newest.lost_before, full.lost);
    EXPECT_LT(newest.lost_since_ticks, newest.start_ticks);
    EXPECT_GE(newest.lost_since_ticks & kLow48, full.records.back().low_ticks);
    EXPECT_EQ(after.lost, full.lost);  // not once in the row and once in the chunk
  });
}

TEST(Policy, LosslessWaitsForTheDrain) {
  in_own_process([] {
    const LaneRun run({.memory_bytes = kSmall});
    constexpr std::uint64_t kMany = 300'000, kThreads = 3;
    std::vector<std::thread> threads;
    std::atomic<int> running{kThreads};
    for (std::uint64_t t = 0; t < kThreads; ++t) {
      threads.emplace_back([&] {
        put_numbered(0, kMany);
        running.fetch_sub(1);
      });
    }
    Drain drain;
    for (std::uint32_t seen = 0; running.load() != 0;) {
      drain.once();
      seen = Pool::wait_for_work(seen, 1'000'000, false);
    }
    for (std::thread& thread : threads) thread.join();
    std::uint64_t left = 0, lost = 0;
    for (const FoundLane& lane : run.lanes()) {
      for (const Found& record : lane.records) left += record.kind == RecordKind::kEnter;
      lost += lane.lost;
      EXPECT_EQ(lane.holes, 0u);
    }
    EXPECT_EQ(drain.drained() + left, kMany * kThreads);
    EXPECT_EQ(drain.lost() + lost, 0u);
  });
}

// An hour is none that a test has.
TEST(Policy, APatientDrainIsWokenForSomeChunks) {
  in_own_process([] {
    const LaneRun run({.memory_bytes = std::uint64_t{16} << 20});
    constexpr std::uint64_t kHour_ns = 3'600'000'000'000;
    constexpr std::uint64_t kMany = 400'000;  // two dozen chunks, where 16 are a quarter
    std::thread drain([] {
      const std::uint32_t saw = Pool::wait_for_work(0, kHour_ns, true);
      EXPECT_GT(saw, 1u);
    });
    put_numbered(0, kMany);
    drain.join();
  });
}

TEST(Policy, LosslessWithoutADrainGoesOnAfterASecondAndCounts) {
  in_own_process([] {
    const LaneRun run({.memory_bytes = kSmall});
    constexpr std::uint64_t kMany = 100'000;  // of which one waits
    put_numbered(0, kMany);
    const FoundLane lane = run.only_lane();
    EXPECT_EQ(lane.records.size() + lane.lost, kMany);
    EXPECT_GT(lane.lost, 0u);
  });
}

TEST(Policy, FlightKeepsTheNewest) {
  in_own_process([] {
    const LaneRun run({.memory_bytes = kSmall + 4 * kChunkSizes[2], .policy = Policy::kFlight});
    constexpr std::uint64_t kMany = 500'000;
    put_numbered(0, kMany);
    const FoundLane lane = run.only_lane();
    EXPECT_EQ(lane.holes + lane.lost, 0u);
    ASSERT_GT(lane.records.size(), kRecordsPerBlock);
    const std::uint64_t first = kMany - lane.records.size();
    for (std::size_t i = 0; i < lane.records.size(); ++i) ASSERT_EQ(lane.records[i].what, first + i);
    EXPECT_GT(lane.chunks.front().header->number, 1u);
  });
}

TEST(Policy, AThreadThatFindsNoRoomAtAllIsCounted) {
  in_own_process([] {
    const LaneRun run({.memory_bytes = kChunksAt + kChunkSizes[0], .policy = Policy::kDrop});
    ASSERT_EQ(run.started(), 0);
    put_numbered(0, 1);
    std::thread([] { put_numbered(0, 10); }).join();
    const std::vector<FoundLane> lanes = run.lanes();
    ASSERT_EQ(lanes.size(), 2u);
    EXPECT_TRUE(lanes[1].records.empty());
    EXPECT_EQ(lanes[1].lost, 10u);  // its end could not be told, since its key was never set
  });
}

TEST(Policy, APoolLargerThanFilesMayBeIsMadeSmaller) {
  in_own_process([] {
    const rlimit small{kSmall, RLIM_INFINITY};
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    const LaneRun run({.policy = Policy::kDrop});
    ASSERT_EQ(run.started(), 0);
    put_numbered(0, 100'000);
    const FoundLane lane = run.only_lane();
    EXPECT_EQ(lane.records.size() + lane.lost, 100'000u);
  });
}

// A tmpfs that holds 1 MiB, where this process may mount one.
bool mount_small(const std::string& place) {
  if (unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
  (void)mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
  return mount("lanes", place.c_str(), "tmpfs", 0, "size=1m") == 0;
}

// Takes all that is left.
void fill(const std::string& file) {
  const int descriptor = open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  const std::vector<char> bytes(4096, 'x');
  while (write(descriptor, bytes.data(), bytes.size()) > 0) {
  }
  close(descriptor);
}

TEST(Policy, AFullTmpfsIsNoRoomAndNoFault) {
  const test_support::TempFolder place;
  in_own_process([&] {
    if (!mount_small(place.path())) _exit(kSkipped);
    const LaneRun run({.folder = place.path().c_str(), .policy = Policy::kDrop});
    ASSERT_EQ(run.started(), 0);  // 64 MiB are asked for
    put_numbered(0, 100'000);
    FoundLane lane = run.only_lane();
    EXPECT_EQ(lane.records.size() + lane.lost, 100'000u);
    EXPECT_GT(lane.records.size(), std::size_t{512} << 10 >> 4);
    EXPECT_GT(lane.lost, 0u);
    Drain drain;
    drain.once();
    Pool::keep_spare();
    put_numbered(100'000, 1);
    EXPECT_EQ(run.only_lane().records.back().what, 100'000u);
  });
}

TEST(Policy, NoPoolIsMadeInATmpfsThatIsFull) {
  const test_support::TempFolder place;
  in_own_process([&] {
    if (!mount_small(place.path())) _exit(kSkipped);
    fill(place.file("filling"));
    EXPECT_EQ(Pool::start({.folder = place.path().c_str(), .output_folder = "/"}), -ENOSPC);
    EXPECT_EQ(access(place.file("lanes").c_str(), F_OK), -1);
    put_numbered(0, 10);  // nobody counts what nobody asked for
    EXPECT_EQ(Pool::lost_without_lane(), 0u);
  });
}

}  // namespace
}  // namespace lanes_test
