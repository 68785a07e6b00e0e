#include "agent/drain/drain.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "tests/unit/drain/drained_process.hpp"

namespace jitquill::drain {
namespace {

constexpr const char* kHead = "calls\ttotal_ns\tself_ns\tmin_ns\tmax_ns\tfunction\tfile:line\n";
std::string said, files_before;

class Drained : public testing::Test, public tests::DrainedProcess {
 protected:
  Drained() : DrainedProcess(memory_.bytes()) { said.clear(); }

 private:
  static tests::PoolMemory memory_;
  void SetUp() override { ASSERT_EQ(code.function(1, "one", "f.nib", 1), Status::kOk); }
  void TearDown() override { std::memset(memory_.bytes().data(), 0, pool.header().used_bytes); }
};
tests::PoolMemory Drained::memory_;

TEST_F(Drained, WritesAtOnceWhatItTakes) {
  ASSERT_EQ(open(tests::format_bit("calls") | tests::format_bit("counts")), Status::kOk);
  function(2, "two");
  const std::uint32_t row = pool.begin_thread(99);
  enter(row, 1'000, kTop, 1);
  enter(row, 2'000, kTop - 64, 2);
  leave(row, 2'500, kTop - 64);
  EXPECT_EQ(drain->pass({3'000, 3'000}).records, 3u);
  const std::string calls = output.read("calls");
  EXPECT_NE(calls.find("0.000001000 | nib-99                 |                 | one() {\n"), calls.npos)
      << calls;
  EXPECT_NE(calls.find("0.000002000 | nib-99                 |           0.500 |   two();\n"), calls.npos)
      << calls;
  EXPECT_EQ(output.read("counts"), "");
  EXPECT_EQ(drain->pass({4'000, 4'000}).records, 0u);
  leave(row, 5'000, kTop);
  EXPECT_EQ(drain->finish(FrameEnd::kOpen, {6'000, 6'000}), Status::kOk);
  EXPECT_EQ(output.read("counts"), std::string(kHead) + "1\t4000\t3500\t4000\t4000\tone\tf.nib:1\n" +
                                       "1\t500\t500\t500\t500\ttwo\tf.nib:1\n");
  EXPECT_EQ(pool.header().is_ended, 1u);
  EXPECT_TRUE(drain->is_finished());
}

TEST_F(Drained, ThreadsEndAndTheirChunksAndRowsAreGivenBack) {
  ASSERT_EQ(open(tests::format_bit("counts")), Status::kOk);
  for (std::uint32_t thread = 0; thread < 5; ++thread) {
    const std::uint32_t row = pool.begin_thread(thread + 1);
    for (std::uint64_t i = 0; i < 3'000; ++i) {
      enter(row, 10 * i + 10, kTop, 1);
      if (i != 2'999) leave(row, 10 * i + 15, kTop);
    }
    pool.end_thread(row);
    drain_all(100'000);
    EXPECT_EQ(source.given_back, pool.chunks(row));
    EXPECT_EQ(source.freed_rows.back(), row);
    source.given_back.clear();
  }
  EXPECT_EQ(drain->finish(FrameEnd::kProcessEnd, {200'000, 200'000}), Status::kOk);
  EXPECT_EQ(output.read("counts"), std::string(kHead) + "15000\t74975\t74975\t0\t5\tone\tf.nib:1\n");
}

TEST_F(Drained, GivesBackNoChunkThatAThreadStillFills) {
  ASSERT_EQ(open(tests::format_bit("counts")), Status::kOk);
  const std::uint32_t row = pool.begin_thread(1);
  for (std::uint64_t i = 0; i < lanes::kRecordsPerBlock; ++i) enter(row, i + 1, kTop - 8 * i, 1);
  drain_all(10'000);
  EXPECT_EQ(source.given_back.size(), 1u);  // its thread can never be in it again
  enter(row, 20'000, kTop, 1);
  drain_all(30'000);
  EXPECT_EQ(source.given_back.size(), 1u);
}

// The walk over the chunks passed the place of the first before that was handed out, and met the second.
TEST_F(Drained, LooksAgainForAChunkThatItDidNotMeet) {
  ASSERT_EQ(open(tests::format_bit("counts")), Status::kOk);
  const std::uint32_t row = pool.begin_thread(1);
  constexpr std::uint64_t kCalls = lanes::kRecordsPerBlock / 2 + 1;
  for (std::uint64_t i = 0; i < kCalls; ++i) {
    enter(row, 10 * i + 10, kTop, 1);
    leave(row, 10 * i + 15, kTop);
  }
  ASSERT_EQ(pool.chunks(row).size(), 2u);
  pool.chunk(pool.chunks(row)[0]).state = lanes::ChunkState::kFree;
  EXPECT_EQ(drain->pass({10'000, 10'000}).records, 0u);
  pool.chunk(pool.chunks(row)[0]).state = lanes::ChunkState::kUsed;
  pool.end_thread(row);
  EXPECT_EQ(drain->pass({20'000, 20'000}).records, 2 * kCalls);
  EXPECT_EQ(source.given_back, pool.chunks(row));
}

TEST_F(Drained, WaitsATenthOfASecondAtAHole) {
  ASSERT_EQ(open(tests::format_bit("calls")), Status::kOk);
  const std::uint32_t row = pool.begin_thread(1);
  enter(row, 1'000, kTop, 1);
  pool.put_hole(row, 2'000);
  leave(row, 3'000, kTop);
  constexpr std::uint64_t kFirst = 1'000'000, kWait = 100'000'000;
  EXPECT_EQ(drain->pass({kFirst, kFirst}).records, 1u);
  EXPECT_EQ(drain->pass({kFirst + kWait - 2, kFirst + kWait - 2}).records, 0u);
  EXPECT_EQ(drain->pass({kFirst + kWait + 1, kFirst + kWait + 1}).records, 2u);
  const std::string calls = output.read("calls");
  EXPECT_NE(calls.find("/* 1 records lost between 0.000001000 and 0.000003000 */"), calls.npos) << calls;
  for (std::uint64_t i = 0; i < lanes::kRecordsPerBlock - 2; ++i) enter(row, 10'000 + i, kTop, 1);
  drain_all(3 * kWait);
  EXPECT_EQ(source.quarantined, std::vector<std::uint64_t>{pool.chunks(row)[0]});
  EXPECT_TRUE(source.given_back.empty());
  pool.end_thread(row);
  drain_all(4 * kWait);
  EXPECT_EQ(source.given_back, pool.chunks(row));
}

// At a chunk's end the entry is in the next one, which its thread may not have got yet. One that was lost is
// not waited for.
TEST_F(Drained, TakesACallStackWithItsEntry) {
  ASSERT_EQ(open(tests::format_bit("calls")), Status::kOk);
  constexpr std::uint64_t kWait = 100'000'000;
  const std::uint8_t payload[lanes::kMoreBytes] = {};
  const std::uint32_t row = pool.begin_thread(1);
  for (std::uint64_t i = 0; i < lanes::kRecordsPerBlock - 2; ++i) enter(row, i + 1, kTop, 1);
  pool.post(row, lanes::kPostCallStack, payload, 1'000);
  EXPECT_EQ(drain->pass({10'000, 10'000}).records, lanes::kRecordsPerBlock - 2);
  EXPECT_EQ(drain->pass({11'000, 11'000}).records, 0u);
  enter(row, 1'001, kTop, 1);
  ASSERT_EQ(pool.chunks(row).size(), 2u);
  EXPECT_EQ(drain->pass({12'000, 12'000}).records, 2u);
  EXPECT_EQ(source.given_back, std::vector<std::uint64_t>{pool.chunks(row)[0]});
  pool.post(row, lanes::kPostCallStack, payload, 20'000);
  EXPECT_EQ(drain->pass({30'000, 30'000}).records, 0u);
  EXPECT_EQ(drain->pass({30'000 + kWait - 2, 30'000 + kWait - 2}).records, 0u);
  EXPECT_EQ(drain->pass({30'000 + kWait + 1, 30'000 + kWait + 1}).records, 1u);
}

// A busy thread is nearly always met in the middle of a record.
TEST_F(Drained, WaitsAtEachHoleForItself) {
  ASSERT_EQ(open(tests::format_bit("calls")), Status::kOk);
  const std::uint32_t row = pool.begin_thread(1);
  constexpr std::uint64_t kFirst = 1'000'000, kStep = 60'000'000;
  auto* const records =
      reinterpret_cast<lanes::Record*>(pool.memory().data() + lanes::kChunksAt + lanes::kBlockHeaderSize);
  for (std::uint64_t i = 0; i < 5; ++i) {
    enter(row, 1'000 * i + 1, kTop, 1);
    pool.put_hole(row, 1'000 * i + 2);
    leave(row, 1'000 * i + 3, kTop);
    const std::uint64_t now = kFirst + i * kStep;
    EXPECT_EQ(drain->pass({now, now}).records, i == 0 ? 1u : 3u);
    records[3 * i + 1].what = lanes::what_word(lanes::RecordKind::kEnter, 1, lanes::slot_of(kTop - 64));
    records[3 * i + 1].when = lanes::when_word(1'000 * i + 2, lanes::slot_of(kTop - 64));
  }
  drain_all(kFirst + 5 * kStep);
  EXPECT_EQ(output.read("calls").find("lost"), std::string::npos);
  EXPECT_TRUE(source.quarantined.empty());
}

TEST_F(Drained, TellsOfRecordsThatFoundNoRoom) {
  ASSERT_EQ(open(tests::format_bit("calls")), Status::kOk);
  const std::uint32_t row = pool.begin_thread(1);
  for (std::uint64_t i = 0; i < lanes::kRecordsPerBlock; ++i) enter(row, i + 1, kTop, 1);
  pool.lose(row, 7, 2'000);
  enter(row, 5'000, kTop, 1);
  pool.lose(row, 3, 6'000);
  pool.end_thread(row);
  drain_all(9'000);
  const std::string calls = output.read("calls");
  EXPECT_NE(calls.find("/* 7 records lost between 0.000002000 and 0.000005000 */"), calls.npos);
  EXPECT_NE(calls.find("/* 3 records lost between 0.000006000 and 0.000006000 */"), calls.npos);
}

TEST_F(Drained, SwitchesASinkOffThatFailsThreeTimes) {
  output.device = "/dev/full";
  DrainSettings all = settings(tests::format_bit("calls"));
  all.say = [](std::string_view words) { said += words; };
  drain = std::make_unique<Drain>();
  ASSERT_EQ(drain->open(all, {1, 1}), Status::kOk);  // the first
  const std::uint32_t row = pool.begin_thread(1);
  for (std::uint64_t i = 1; i < 5; ++i) {
    enter(row, 1'000 * i, kTop, 1);
    drain_all(10'000);
    EXPECT_EQ(said.find("calls: switched off after three failures in a row") == said.npos, i < 2) << i;
  }
  EXPECT_EQ(said.find("calls: not all of it is there: no room"), 0u);
}

// A state whose lengths are wrong cuts the files.
void write_again(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

// A journal whose checksums are right and whose words are not.
TEST_F(Drained, TakesUpAnyStateWithoutACrash) {
  ASSERT_EQ(open(tests::format_bit("calls") | tests::format_bit("counts")), Status::kOk);
  const std::uint32_t row = pool.begin_thread(1);
  for (std::uint64_t i = 0; i < 700; ++i) enter(row, i + 1, kTop - 64 * i, 1 + i % 7);
  pool.put_key(row, lanes::RecordKind::kEnterKey, 3, 5, 900);
  drain_all(10'000);
  std::vector<std::vector<std::uint8_t>> records;
  Journal journal;
  journal.open(folder);
  ASSERT_TRUE(journal.fold([&](bool, std::span<const std::uint8_t> payload) {
    records.emplace_back(payload.begin(), payload.end());
    return true;
  }));
  const std::string calls = output.read("calls"), counts = output.read("counts");
  std::mt19937_64 random(4);
  int taken_up = 0;
  for (int round = 0; round < 300; ++round) {
    write_again(output.path / "calls", calls);
    write_again(output.path / "counts", counts);
    auto damaged = records;
    auto& one = damaged[random() % damaged.size()];
    for (std::uint64_t i = random() % 8; i < 8; ++i)
      one[random() % one.size()] = static_cast<std::uint8_t>(random());
    if (random() % 4 == 0) one.resize(random() % one.size());
    ASSERT_EQ(journal.replace(damaged[0]), Status::kOk);
    for (std::size_t i = 1; i < damaged.size(); ++i) ASSERT_EQ(journal.append(damaged[i]), Status::kOk);
    Drain other;
    DrainSettings all = settings(0);
    files_before = output.path.string();
    class Before final : public Folder {
     public:
      int create(const char* name) noexcept override {
        return ::open((files_before + "/" + name).c_str(), O_RDWR | O_CLOEXEC);
      }
      void remove(const char*) noexcept override {}
    } files;
    all.output = &files;
    if (other.resume(all) != Status::kOk) continue;
    ++taken_up;
    (void)other.finish(FrameEnd::kProcessEnd, {20'000, 20'000});
  }
  EXPECT_GT(taken_up, 100);
}

// As after a stop and a start: the thread fills on the chunk that it has.
TEST_F(Drained, PassesOverWhatAnEarlierDrainTook) {
  ASSERT_EQ(open(tests::format_bit("counts")), Status::kOk);
  const std::uint32_t row = pool.begin_thread(1), other = pool.begin_thread(2);
  for (std::uint64_t i = 0; i < 5; ++i) {
    enter(row, 100 + 10 * i, kTop, 1);
    leave(row, 105 + 10 * i, kTop);
    enter(other, 100 + i, kTop - 8 * i, 1);
  }
  drain_all(1'000);
  EXPECT_EQ(drain->finish(FrameEnd::kOpen, {2'000, 2'000}), Status::kOk);
  pool.end_thread(other);
  output.remove("counts");

  drain = std::make_unique<Drain>();
  ASSERT_EQ(drain->open(settings(tests::format_bit("calls") | tests::format_bit("counts")), {3'000, 3'000}),
            Status::kOk);
  EXPECT_EQ(pool.header().is_ended, 0u);
  EXPECT_EQ(source.freed_rows, std::vector<std::uint32_t>{other});
  enter(row, 4'000, kTop, 1);
  leave(row, 4'007, kTop);
  EXPECT_EQ(drain->pass({5'000, 5'000}).records, 2u);
  EXPECT_EQ(drain->finish(FrameEnd::kOpen, {6'000, 6'000}), Status::kOk);
  EXPECT_EQ(output.read("counts"), std::string(kHead) + "1\t7\t7\t7\t7\tone\tf.nib:1\n");
  const std::string calls = output.read("calls");
  EXPECT_NE(calls.find("nib-1 "), calls.npos);
  EXPECT_EQ(calls.find("nib-2 "), calls.npos) << "its thread has ended";
}

TEST_F(Drained, IsOffWithoutAFormat) {
  EXPECT_EQ(open(tests::format_bit("jitdump")), Status::kOff);
}

}  // namespace
}  // namespace jitquill::drain
