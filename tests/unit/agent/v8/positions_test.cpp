#include "agent/intake/v8/positions.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

namespace {

using jitquill::intake::v8::Positions;

constexpr std::uint32_t kThread = 100;
constexpr std::uint32_t kOther = 101;
constexpr std::uint64_t kCode = 0x7f0000001000;

class V8Positions : public testing::Test {
 protected:
  std::size_t taken(std::uint32_t thread, std::uint64_t code) {
    Positions::Recording* const recording = positions_->take(thread, code);
    const std::size_t count = recording == nullptr ? 0 : recording->positions.all().size();
    Positions::give_back(recording);
    return count;
  }

  std::unique_ptr<Positions> positions_ = std::make_unique<Positions>();
};

TEST_F(V8Positions, AreTakenOnceByTheThreadThatToldThem) {
  void* const handle = positions_->begin(kThread);
  positions_->add(handle, kThread, 0, 55);
  positions_->add(handle, kThread, 8, 66);
  positions_->end(handle, kThread, kCode);
  EXPECT_EQ(taken(kOther, kCode), 0u);
  EXPECT_EQ(taken(kThread, kCode + 1), 0u);
  EXPECT_EQ(taken(kThread, kCode), 2u);
  EXPECT_EQ(taken(kThread, kCode), 0u);
}

TEST_F(V8Positions, GoIntoNoRecordingThatIsNotOpen) {
  for (const std::uint64_t wrong : {0ul, 1ul, 32ul, 33ul, 0xDEADul, ~0ul}) {
    auto* const handle = reinterpret_cast<void*>(wrong);
    positions_->add(handle, kThread, 0, 55);
    positions_->end(handle, kThread, kCode);
  }
  EXPECT_EQ(taken(kThread, kCode), 0u);
  void* const handle = positions_->begin(kThread);
  positions_->add(handle, kOther, 0, 55);
  positions_->end(handle, kOther, kCode);
  positions_->add(handle, kThread, 4, 66);
  positions_->end(handle, kThread, kCode);
  positions_->add(handle, kThread, 8, 77);  // behind its end
  positions_->end(handle, kThread, kCode + 0x1000);
  EXPECT_EQ(taken(kThread, kCode), 1u);
}

TEST_F(V8Positions, UseRecordingsAgain) {
  for (int i = 0; i < 1000; ++i)  // whose code never comes
    positions_->end(positions_->begin(kThread), kThread, kCode);
  for (int i = 0; i < 1000; ++i) EXPECT_NE(positions_->begin(kThread), nullptr);  // that never end
  for (std::uint32_t thread = 0; thread < 1000; ++thread)                         // threads that are gone
    positions_->end(positions_->begin(thread), thread, kCode);
  void* const handle = positions_->begin(kThread);
  positions_->add(handle, kThread, 0, 55);
  positions_->end(handle, kThread, kCode);
  EXPECT_EQ(taken(kThread, kCode), 1u);
}

TEST_F(V8Positions, HaveABoundForThreads) {
  std::uint32_t thread = 1;
  while (positions_->begin(thread) != nullptr) ++thread;  // all in the middle of it
  EXPECT_EQ(thread, 33u);
}

TEST_F(V8Positions, HaveABoundForEach) {
  void* const handle = positions_->begin(kThread);
  for (std::uint64_t i = 0; i < Positions::kMostPositions; ++i) positions_->add(handle, kThread, i, i);
  positions_->add(handle, kThread, 1ul << 40, 1);  // no offset at all: neither taken nor missed
  positions_->end(handle, kThread, kCode);
  Positions::Recording* recording = positions_->take(kThread, kCode);
  ASSERT_NE(recording, nullptr);
  EXPECT_FALSE(recording->is_cut);
  EXPECT_EQ(recording->positions.all().back().offset, Positions::kMostPositions - 1);
  Positions::give_back(recording);

  void* const longer = positions_->begin(kThread);
  for (std::uint64_t i = 0; i <= Positions::kMostPositions; ++i) positions_->add(longer, kThread, i, i);
  positions_->end(longer, kThread, kCode);
  recording = positions_->take(kThread, kCode);
  ASSERT_NE(recording, nullptr);
  EXPECT_TRUE(recording->is_cut);
  Positions::give_back(recording);
}

TEST_F(V8Positions, OfManyThreadsAtOnceKeepApart) {
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (std::uint32_t thread = 1; thread <= 8; ++thread) {
    threads.emplace_back([&, thread] {
      for (std::uint64_t round = 0; round < 5000; ++round) {
        void* const handle = positions_->begin(thread);
        for (std::uint64_t i = 0; i < thread; ++i) positions_->add(handle, thread, i, thread);
        positions_->end(handle, thread, round);
        if (taken(thread, round) != thread) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
