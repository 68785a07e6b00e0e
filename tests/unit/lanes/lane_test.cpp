#include "agent/lanes/lane.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/syscall.h>

#include <numeric>
#include <thread>

#include "tests/unit/lanes/lane_run.hpp"
#include "tests/unit/lanes/own_process.hpp"
#include "tests/unit/lanes/traced_code.hpp"

namespace lanes_test {
namespace {

using namespace jitquill::lanes;

TEST(Lane, HoldsWhatSitesPut) {
  in_own_process([] {
    const LaneRun run;
    ASSERT_EQ(run.started(), 0);
    TracedCode code;
    call_code(code.leaf(7));
    const FoundLane lane = run.only_lane();
    ASSERT_EQ(lane.records.size(), 2u);
    EXPECT_EQ(lane.records[0].kind, RecordKind::kEnter);
    EXPECT_EQ(lane.records[0].what, 7u);
    EXPECT_EQ(lane.records[1].kind, RecordKind::kLeave);
    EXPECT_EQ(lane.records[0].slot, lane.records[1].slot);
    const auto here = reinterpret_cast<std::uint64_t>(__builtin_frame_address(0));
    EXPECT_LT(slot_of(here) - lane.records[0].slot, 1024u);  // 8 KiB below
    EXPECT_LT(lane.records[0].low_ticks, lane.records[1].low_ticks);
    EXPECT_EQ(lane.tid, static_cast<std::uint32_t>(syscall(SYS_gettid)));
    const ChunkHeader& chunk = *lane.chunks[0].header;
    EXPECT_LE(chunk.stack_low, here);
    EXPECT_GT(chunk.stack_high, here);
  });
}

TEST(Lane, GoesOnFromBlockToBlockAndChunkToChunk) {
  in_own_process([] {
    const LaneRun run;
    TracedCode code;
    const std::uint8_t* const leaf = code.leaf(1);
    constexpr std::size_t kCalls = 50'000;  // 1.6 MB
    for (std::size_t i = 0; i < kCalls; ++i) call_code(leaf);
    const FoundLane lane = run.only_lane();
    ASSERT_EQ(lane.records.size(), 2 * kCalls);
    EXPECT_EQ(lane.holes, 0u);
    EXPECT_EQ(lane.lost, 0u);
    for (std::size_t i = 0; i < lane.records.size(); ++i)
      ASSERT_EQ(lane.records[i].kind, i % 2 == 0 ? RecordKind::kEnter : RecordKind::kLeave) << i;
    ASSERT_GE(lane.chunks.size(), 3u);
    for (std::size_t i = 0; i < lane.chunks.size(); ++i) {
      EXPECT_EQ(lane.chunks[i].header->number, i + 1);
      EXPECT_EQ(lane.chunks[i].size, kChunkSizes[std::min<std::size_t>(i, 2)]);
    }
  });
}

TEST(Lane, HoldsPostsWithTheirPayloadInOneBlock) {
  in_own_process([] {
    const LaneRun run;
    std::vector<std::uint8_t> payload(1000);
    std::iota(payload.begin(), payload.end(), std::uint8_t{0});
    for (int i = 0; i < 40; ++i) EXPECT_TRUE(post(100, payload.data(), payload.size()));
    EXPECT_FALSE(post(100, payload.data(), kMostPayload + 1));
    std::vector<std::uint8_t> largest(kMostPayload, 0);
    EXPECT_TRUE(post(101, largest.data(), largest.size()));
    const FoundLane lane = run.only_lane();
    EXPECT_EQ(lane.lost, 0u);
    std::size_t posts = 0, pads = 0;
    for (std::size_t i = 0; i < lane.records.size(); ++i) {
      pads += lane.records[i].kind == RecordKind::kPad;
      if (lane.records[i].kind != RecordKind::kPost) continue;
      ++posts;
      const std::size_t size = lane.records[i].what >> 16;
      EXPECT_EQ(lane.records[i].what & 0xFFFF, posts == 41 ? 101u : 100u);
      std::vector<std::uint8_t> read;
      for (std::size_t more = (size + kMoreBytes - 1) / kMoreBytes; more-- > 0;) {
        const Found& record = lane.records.at(++i);
        ASSERT_EQ(record.kind, RecordKind::kMore);
        EXPECT_EQ(record.raw_what >> 52, more);
        EXPECT_EQ(record.raw_when & std::uint64_t{0xFF} << 56, kMoreMark);
        for (int b = 0; b < 7; ++b) read.push_back(static_cast<std::uint8_t>(record.raw_when >> (8 * b)));
        for (int b = 0; b < 6; ++b) read.push_back(static_cast<std::uint8_t>(record.raw_what >> (8 * b)));
      }
      read.resize(size);
      EXPECT_EQ(read, posts == 41 ? largest : payload);
    }
    EXPECT_EQ(posts, 41u);
    EXPECT_GT(pads, 0u);
  });
}

// A text behind its fields is copied by nobody in between.
TEST(Lane, HoldsPostsOfTwoPieces) {
  in_own_process([] {
    const LaneRun run;
    std::vector<std::uint8_t> all(64);
    std::iota(all.begin(), all.end(), std::uint8_t{1});
    for (std::size_t size = 0; size <= all.size(); ++size) {
      for (std::size_t cut = 0; cut <= size; ++cut) {
        // Of their own sizes, so that a sanitizer sees a byte too much.
        const std::vector<std::uint8_t> head(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(cut));
        const std::vector<std::uint8_t> tail(all.begin() + static_cast<std::ptrdiff_t>(cut),
                                             all.begin() + static_cast<std::ptrdiff_t>(size));
        EXPECT_TRUE(post(7, {head.data(), head.size(), tail.data(), tail.size()}));
      }
    }
    const FoundLane lane = run.only_lane();
    std::size_t at = 0;
    for (std::size_t size = 0; size <= all.size(); ++size) {
      for (std::size_t cut = 0; cut <= size; ++cut) {
        while (lane.records.at(at).kind == RecordKind::kPad) ++at;
        ASSERT_EQ(lane.records[at].kind, RecordKind::kPost);
        ASSERT_EQ(lane.records[at++].what, 7u | size << 16);
        std::vector<std::uint8_t> read;
        for (; at < lane.records.size() && lane.records[at].kind == RecordKind::kMore; ++at) {
          for (int b = 0; b < 7; ++b)
            read.push_back(static_cast<std::uint8_t>(lane.records[at].raw_when >> 8 * b));
          for (int b = 0; b < 6; ++b)
            read.push_back(static_cast<std::uint8_t>(lane.records[at].raw_what >> 8 * b));
        }
        ASSERT_LE(read.size(), size + 12);
        for (std::size_t i = 0; i < read.size(); ++i)
          ASSERT_EQ(read[i], i < size ? all[i] : 0) << size << " " << cut;
      }
    }
    EXPECT_EQ(at, lane.records.size());
  });
}

TEST(Lane, TakesNothingWhileSwitchedOff) {
  in_own_process([] {
    const LaneRun run;
    TracedCode code;
    const std::uint8_t* const leaf = code.leaf(1);
    Pool::switch_off();
    for (int i = 0; i < 100; ++i) call_code(leaf);
    put(RecordKind::kEnterKey, 1, 2);
    EXPECT_TRUE(run.lanes().empty());
    Pool::switch_on();
    call_code(leaf);
    EXPECT_EQ(run.only_lane().records.size(), 2u);
    // Within a chunk the hooks go on; at its end they stop, however often they ask.
    Pool::switch_off();
    for (std::size_t i = 0; i < kRecordsPerBlock; ++i) call_code(leaf);
    EXPECT_EQ(run.only_lane().records.size(), kRecordsPerBlock);
    Pool::switch_on();
    call_code(leaf);
    const FoundLane lane = run.only_lane();
    EXPECT_EQ(lane.records.size(), kRecordsPerBlock + 2);
    EXPECT_EQ(lane.holes, 0u);
  });
}

// A destructor of thread-specific data that still runs traced code, after ours.
void* call_at_end(void* function) {
  static pthread_key_t key = [] {
    pthread_key_t made{};
    pthread_key_create(&made, [](void* f) { call_code(static_cast<const std::uint8_t*>(f)); });
    return made;
  }();
  pthread_setspecific(key, function);
  call_code(static_cast<const std::uint8_t*>(function));
  return nullptr;
}

TEST(Lane, GoesOnAfterItsThreadSaidThatItEnds) {
  in_own_process([] {
    const LaneRun run;
    TracedCode code;
    const std::uint8_t* const leaf = code.leaf(1);
    pthread_t thread{};
    ASSERT_EQ(pthread_create(&thread, nullptr, call_at_end, const_cast<std::uint8_t*>(leaf)), 0);
    ASSERT_EQ(pthread_join(thread, nullptr), 0);
    const FoundLane lane = run.only_lane();
    ASSERT_EQ(lane.records.size(), 5u);
    EXPECT_EQ(lane.records[2].kind, RecordKind::kPost);
    EXPECT_EQ(lane.records[2].what & 0xFFFF, kPostThreadEnd);
    EXPECT_EQ(lane.records[4].kind, RecordKind::kLeave);
    EXPECT_TRUE(Pool::is_thread_gone(0));
    Pool::give_back(lane.chunks[0].offset);
    Pool::free_row(0);
    call_code(leaf);  // the row is used again, by another number
    EXPECT_EQ(run.only_lane().thread, 1u);
  });
}

TEST(Lane, OfAThousandThreadsHoldsAll) {
  in_own_process([] {
    const LaneRun run;
    TracedCode code;
    const std::uint8_t* const leaf = code.leaf(1);
    constexpr int kThreads = 1000, kAtOnce = 20, kCalls = 10;
    for (int done = 0; done < kThreads; done += kAtOnce) {
      std::vector<std::thread> threads;
      for (int i = 0; i < kAtOnce; ++i) {
        threads.emplace_back([leaf] {
          for (int call = 0; call < kCalls; ++call) call_code(leaf);
        });
      }
      for (std::thread& thread : threads) thread.join();
    }
    const std::vector<FoundLane> lanes = run.lanes();
    ASSERT_EQ(lanes.size(), std::size_t{kThreads});
    for (const FoundLane& lane : lanes) {
      ASSERT_EQ(lane.records.size(), 2u * kCalls + 1);  // and its end
      ASSERT_EQ(lane.holes + lane.lost, 0u);
    }
    for (std::uint32_t row = 0; row < kThreads; ++row) ASSERT_TRUE(Pool::is_thread_gone(row));
  });
}

}  // namespace
}  // namespace lanes_test
