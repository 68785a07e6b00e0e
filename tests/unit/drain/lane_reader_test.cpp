#include "agent/drain/lane_reader.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "tests/support/lane_pool.hpp"
#include "tests/unit/drain/pool_memory.hpp"

namespace jitquill::drain {
namespace {

using lanes::RecordKind;
using Stop = LaneReader::Stop;

constexpr std::size_t kMost = 100'000;
constexpr std::size_t kFar = 1'000;

class Reader : public testing::Test {
 protected:
  Reader() { EXPECT_TRUE(reader.begin(kMost)); }
  ChunkView view(std::size_t index = 0) {
    const std::uint64_t offset = pool.chunks(row)[index];
    return {pool.memory().data() + offset, pool.chunk(offset).size};
  }
  void enter(std::uint64_t ticks) { pool.put(row, RecordKind::kEnter, 7, 0x1000, ticks); }
  lanes::Record* record(std::size_t index) {
    return reinterpret_cast<lanes::Record*>(pool.memory().data() + pool.chunks(row)[0] +
                                            lanes::kBlockHeaderSize) +
           index;
  }

  tests::PoolMemory memory;
  test_support::LanePool pool{memory.bytes()};
  std::uint32_t row = pool.begin_thread(1);
  LaneReader reader;
  std::uint32_t at = 0;
};

TEST_F(Reader, TakesWhatIsThereAndGoesOnLater) {
  pool.put(row, RecordKind::kEnter, 77, 0x7ffd'1234'5678, 100);
  EXPECT_EQ(reader.take(view(), at, 1, kFar), Stop::kNothing);
  ASSERT_EQ(reader.sorted().size(), 1u);
  const Taken taken = reader.sorted()[0];
  EXPECT_EQ(taken.kind, RecordKind::kEnter);
  EXPECT_EQ(taken.ticks, 100u);
  EXPECT_EQ(taken.what, 77u);
  EXPECT_EQ(taken.slot, lanes::slot_of(0x7ffd'1234'5678));
  EXPECT_EQ(reader.take(view(), at, 1, kFar), Stop::kNothing);
  pool.put(row, RecordKind::kLeave, 0, 0x7ffd'1234'5678, 101);
  EXPECT_EQ(reader.take(view(), at, 1, kFar), Stop::kNothing);
  EXPECT_EQ(reader.sorted().size(), 2u);
}

TEST_F(Reader, PassesOverTheHeadersOfBlocksToTheChunksEnd) {
  for (std::size_t i = 0; i < 9 * lanes::kRecordsPerBlock + 1; ++i) enter(i + 1);
  ASSERT_EQ(pool.chunks(row).size(), 3u);
  for (std::size_t i = 0; i < 3; ++i, at = 0)
    EXPECT_EQ(reader.take(view(i), at, 1, kFar), i < 2 ? Stop::kEnd : Stop::kNothing);
  ASSERT_EQ(reader.sorted().size(), 9 * lanes::kRecordsPerBlock + 1);
  for (std::size_t i = 0; i < reader.sorted().size(); ++i) EXPECT_EQ(reader.sorted()[i].ticks, i + 1);
}

TEST_F(Reader, TakesWhatBelongsInFrontOfTheLastOnesToo) {
  for (const std::uint64_t ticks : {1u, 9u, 2u, 10u, 3u, 11u}) enter(ticks);
  ASSERT_TRUE(reader.begin(2));
  EXPECT_EQ(reader.take(view(), at, 1, kFar), Stop::kFull);
  std::vector<std::uint64_t> all;
  for (const Taken& taken : reader.sorted()) all.push_back(taken.ticks);
  EXPECT_EQ(all, (std::vector<std::uint64_t>{1, 2, 9}));
}

TEST_F(Reader, TakesTheEntryOfACallStackWithIt) {
  const std::uint8_t payload[] = {1, 2, 3};
  pool.post(row, lanes::kPostCallStack, payload, 1);
  for (const std::uint64_t ticks : {2u, 3u}) enter(ticks);
  ASSERT_TRUE(reader.begin(1));
  EXPECT_EQ(reader.take(view(), at, 1, kFar), Stop::kFull);
  ASSERT_EQ(reader.sorted().size(), 2u);
  EXPECT_EQ(reader.sorted()[1].ticks, 2u);
}

TEST_F(Reader, GivesACallStackBackWhoseEntryIsNotThereYet) {
  const std::uint8_t payload[] = {1, 2, 3};
  enter(1);
  std::uint32_t stack_at = 0;
  EXPECT_EQ(reader.take(view(), at, 1, kFar), Stop::kNothing);
  EXPECT_FALSE(reader.ends_with_call_stack_of(view(), stack_at));
  pool.post(row, lanes::kPostCallStack, payload, 2);
  EXPECT_EQ(reader.take(view(), at, 1, kFar), Stop::kNothing);
  ASSERT_TRUE(reader.ends_with_call_stack_of(view(), stack_at));
  reader.leave_call_stack();
  ASSERT_EQ(reader.sorted().size(), 1u);
  at = stack_at;
  enter(3);
  ASSERT_TRUE(reader.begin(10, 1));
  EXPECT_EQ(reader.take(view(), at, 1, kFar), Stop::kNothing);
  EXPECT_FALSE(reader.ends_with_call_stack_of(view(), stack_at));
  ASSERT_EQ(reader.sorted().size(), 2u);
  EXPECT_EQ(reader.sorted()[0].event, lanes::kPostCallStack);
  EXPECT_TRUE(std::ranges::equal(reader.payload(reader.sorted()[0]), payload));
  EXPECT_EQ(reader.sorted()[1].ticks, 3u);
}

TEST_F(Reader, TakesNoMoreThanItMay) {
  for (std::size_t i = 0; i < 10; ++i) enter(i + 1);
  ASSERT_TRUE(reader.begin(6));
  EXPECT_EQ(reader.take(view(), at, 1, kFar), Stop::kFull);
  EXPECT_EQ(reader.sorted().size(), 6u);
  ASSERT_TRUE(reader.begin(6));
  EXPECT_EQ(reader.take(view(), at, 1, kFar), Stop::kNothing);
  EXPECT_EQ(reader.sorted().size(), 4u);
}

TEST_F(Reader, TellsTheWholeCounterFromItsLowBits) {
  const std::uint64_t now = 0x1234'0000'0000'1000;
  enter(now - 0x2000);  // the low bits ran over in between
  enter(now + 0x2000);
  (void)reader.take(view(), at, now, kFar);
  EXPECT_EQ(reader.sorted()[0].ticks, now - 0x2000);
  EXPECT_EQ(reader.sorted()[1].ticks, now + 0x2000);
}

TEST_F(Reader, SortsAHandlersRecordsBeforeTheOneThatItInterrupted) {
  enter(10);
  enter(30);  // reserved, then interrupted
  for (const std::uint64_t ticks : {20u, 21u, 22u, 22u}) enter(ticks);
  enter(40);
  (void)reader.take(view(), at, 1, kFar);
  std::vector<std::uint64_t> ticks;
  for (const Taken& taken : reader.sorted()) ticks.push_back(taken.ticks);
  EXPECT_EQ(ticks, (std::vector<std::uint64_t>{10, 20, 21, 22, 22, 30, 40}));
}

// Its end was stamped, then a handler came, of which some was taken before: it stays behind the handler's
// rest.
TEST_F(Reader, PutsNothingBeforeWhatWasTakenEarlier) {
  for (const std::uint64_t ticks : {10u, 30u}) enter(ticks);
  (void)reader.take(view(), at, 1, kFar);
  ASSERT_TRUE(reader.begin(kMost, 30));
  for (const std::uint64_t ticks : {31u, 20u, 40u, 35u}) enter(ticks);
  (void)reader.take(view(), at, 1, kFar);
  std::vector<std::uint64_t> ticks;
  for (const Taken& taken : reader.sorted()) ticks.push_back(taken.ticks);
  EXPECT_EQ(ticks, (std::vector<std::uint64_t>{31, 31, 35, 40}));
  ASSERT_TRUE(reader.begin(kMost, 40));
  enter(39);
  (void)reader.take(view(), at, 1, kFar);
  EXPECT_EQ(reader.sorted()[0].ticks, 40u);
}

TEST_F(Reader, SortsAnythingAndKeepsWhatCameAtOneTime) {
  std::mt19937_64 random(1);
  for (std::size_t i = 0; i < 8'000; ++i) pool.put(row, RecordKind::kEnter, i, 0, 1 + random() % 2'000);
  for (std::size_t i = 0; i < pool.chunks(row).size(); ++i, at = 0) (void)reader.take(view(i), at, 1, kFar);
  const auto all = reader.sorted();
  ASSERT_EQ(all.size(), 8'000u);
  for (std::size_t i = 1; i < all.size(); ++i) {
    EXPECT_LE(all[i - 1].ticks, all[i].ticks);
    if (all[i - 1].ticks == all[i].ticks) {
      EXPECT_LT(all[i - 1].what, all[i].what);
    }
  }
}

TEST_F(Reader, WaitsAtAHoleAndPlacesItWhenItIsPassed) {
  enter(10);
  pool.put_hole(row, 11);
  pool.put_hole(row, 12);
  EXPECT_EQ(reader.take(view(), at, 1, kFar), Stop::kNothing);
  enter(20);
  EXPECT_EQ(reader.take(view(), at, 1, kFar), Stop::kHole);
  EXPECT_EQ(reader.sorted().size(), 1u);
  reader.skip(view(), at, 1, 0);
  EXPECT_EQ(reader.take(view(), at, 1, kFar), Stop::kNothing);
  ASSERT_EQ(reader.sorted().size(), 3u);
  const Taken lost = reader.sorted()[1];
  EXPECT_EQ(lost.kind, kLost);
  EXPECT_EQ(lost.slot, 2u);
  EXPECT_EQ(lost.what, 10u);
  EXPECT_EQ(lost.ticks, 20u);
  EXPECT_EQ(reader.lost(), 2u);
}

TEST_F(Reader, AHoleThatIsFilledIsNone) {
  enter(10);
  pool.put_hole(row, 11);
  enter(12);
  EXPECT_EQ(reader.take(view(), at, 1, kFar), Stop::kHole);
  record(1)->what = lanes::what_word(RecordKind::kEnter, 5, 0);
  record(1)->when = lanes::when_word(11, 0);
  EXPECT_EQ(reader.take(view(), at, 1, kFar), Stop::kNothing);
  EXPECT_EQ(reader.sorted().size(), 3u);
  EXPECT_EQ(reader.lost(), 0u);
}

TEST_F(Reader, LooksAsFarAheadAsItIsTold) {
  for (int i = 0; i < 20; ++i) pool.put_hole(row, 1);
  enter(12);
  EXPECT_EQ(reader.take(view(), at, 1, 19), Stop::kNothing);
  EXPECT_EQ(reader.take(view(), at, 1, 20), Stop::kHole);
}

TEST_F(Reader, JoinsAPostsPayload) {
  for (const std::size_t size : {0u, 1u, 7u, 12u, 13u, 14u, 300u, 6'000u}) {
    std::vector<std::uint8_t> payload(size);
    for (std::size_t i = 0; i < size; ++i) payload[i] = static_cast<std::uint8_t>(i * 7 + size);
    pool.post(row, 0x1234, payload, 5 + size);
  }
  enter(10'000);
  for (std::size_t i = 0; i < pool.chunks(row).size(); ++i, at = 0) (void)reader.take(view(i), at, 1, kFar);
  std::size_t posts = 0;
  for (const Taken& taken : reader.sorted()) {
    if (taken.kind != RecordKind::kPost) continue;
    ++posts;
    EXPECT_EQ(taken.event, 0x1234u);
    const auto payload = reader.payload(taken);
    EXPECT_EQ(payload.size(), taken.ticks - 5);
    for (std::size_t i = 0; i < payload.size(); ++i)
      EXPECT_EQ(payload[i], static_cast<std::uint8_t>(i * 7 + payload.size()));
  }
  EXPECT_EQ(posts, 8u);
  EXPECT_EQ(reader.broken(), 0u);
}

TEST_F(Reader, PassesOverTheRestOfABlockThatWasTooShortForAPost) {
  const std::vector<std::uint8_t> payload(4'000, 1);
  for (std::uint64_t i = 0; i < 20; ++i) pool.post(row, 1, payload, i + 1);
  enter(100);
  ASSERT_GE(pool.chunks(row).size(), 3u);
  for (std::size_t i = 0; i < pool.chunks(row).size(); ++i, at = 0) {
    const bool is_last = i + 1 == pool.chunks(row).size();
    EXPECT_EQ(reader.take(view(i), at, 1, kFar), is_last ? Stop::kNothing : Stop::kEnd);
  }
  EXPECT_EQ(reader.sorted().size(), 21u);
  EXPECT_EQ(reader.lost(), 0u);
  EXPECT_EQ(reader.broken(), 0u);
}

TEST_F(Reader, APostThatWasNotFinishedIsOneHole) {
  const std::vector<std::uint8_t> payload(30, 1);
  enter(1);
  pool.post(row, 1, payload, 2);
  record(1)->when = 0;  // the last that would have been stored
  enter(3);
  EXPECT_EQ(reader.take(view(), at, 1, kFar), Stop::kHole);
  reader.skip(view(), at, 1, 0);
  EXPECT_EQ(reader.take(view(), at, 1, kFar), Stop::kNothing);
  EXPECT_EQ(reader.sorted().size(), 3u);
  EXPECT_EQ(reader.lost(), 1u);
  EXPECT_EQ(reader.broken(), 0u);
}

TEST_F(Reader, CountsWhatMakesNoSense) {
  enter(1);
  for (const unsigned kind : {0u, 12u, 14u, 15u}) pool.put_words(row, 2, std::uint64_t{kind} << 48, 2);
  pool.put_words(row, lanes::kMoreMark, lanes::what_word(RecordKind::kMore, 0, 0), 3);  // of no post
  pool.put_words(row, 4, lanes::what_word(RecordKind::kPost, 0xFFFF'0001, 0), 4);       // without its rest
  enter(5);
  EXPECT_EQ(reader.take(view(), at, 1, kFar), Stop::kNothing);
  EXPECT_EQ(reader.sorted().size(), 2u);
  EXPECT_EQ(reader.broken(), 6u);
}

// As after a crash that wrote over everything.
TEST_F(Reader, ReadsAnyBytes) {
  std::mt19937_64 random(7);
  enter(1);
  for (int round = 0; round < 200; ++round, at = 0) {
    ASSERT_TRUE(reader.begin(kMost));
    for (std::size_t i = 0; i < lanes::kRecordsPerBlock; ++i) {
      record(i)->when = random() % 5 == 0 ? 0 : random();
      record(i)->what = random() % 2 == 0 ? random()
                                          : lanes::what_word(static_cast<RecordKind>(random() % 16),
                                                             random() % 64 << 16, 0);
      if (random() % 3 == 0) record(i)->when = lanes::kMoreMark | random() >> 8;
    }
    while (reader.take(view(), at, random(), kFar) == Stop::kHole) reader.skip(view(), at, random(), 0);
    for (const Taken& taken : reader.sorted()) {
      if (taken.kind == RecordKind::kPost) {
        EXPECT_EQ(reader.payload(taken).size(), taken.slot);
      }
    }
  }
}

}  // namespace
}  // namespace jitquill::drain
