#include "agent/base/leaf_lock.hpp"

#include <gtest/gtest.h>
#include <thread>
#include <vector>

#include "agent/base/clock.hpp"
#include "agent/base/process_page.hpp"
#include "agent/base/thread_id.hpp"
#include "writer/bytes/raw_calls.hpp"

namespace jitquill {
namespace {

TEST(LeafLock, LetsOneInAtATime) {
  constexpr int kThreads = 8, kTurns = 20'000;
  int counter = 0;  // unprotected but for the lock
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kTurns; ++i) {
        ASSERT_EQ(LeafLock::lock(), LeafLock::Entry::kTaken);
        counter = counter + 1;
        LeafLock::unlock();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(counter, kThreads * kTurns);
  EXPECT_EQ(process_page().lock_word.load(), 0u);
}

TEST(LeafLock, TellsItsOwnerThatItHoldsItAlready) {
  ASSERT_EQ(LeafLock::lock(), LeafLock::Entry::kTaken);
  EXPECT_EQ(LeafLock::lock(), LeafLock::Entry::kAlreadyMine);
  EXPECT_TRUE(LeafLock::is_mine());
  std::thread([] { EXPECT_FALSE(LeafLock::is_mine()); }).join();
  LeafLock::unlock();
  EXPECT_FALSE(LeafLock::is_mine());
  EXPECT_EQ(LeafLock::lock(), LeafLock::Entry::kTaken);
  LeafLock::unlock();
}

TEST(LeafLock, ABoundedWaitEnds) {
  ASSERT_EQ(LeafLock::lock(), LeafLock::Entry::kTaken);
  std::thread other([] {
    const std::uint64_t start_ns = monotonic_ns();
    EXPECT_EQ(LeafLock::lock(20'000'000), LeafLock::Entry::kTimedOut);
    EXPECT_GE(monotonic_ns() - start_ns, 20'000'000u);
  });
  other.join();
  LeafLock::unlock();
  std::thread after([] {  // what the waiter left in the word does no harm
    EXPECT_EQ(LeafLock::lock(20'000'000), LeafLock::Entry::kTaken);
    LeafLock::unlock();
  });
  after.join();
}

TEST(ThreadId, IsTheKernelsInEveryThread) {
  const auto check = [] { EXPECT_EQ(current_tid(), static_cast<std::uint32_t>(raw::call(SYS_gettid))); };
  process_page().generation.store(1);
  check();
  check();  // cached
  std::thread(check).join();
  process_page().generation.store(2);  // as in a child
  check();
}

}  // namespace
}  // namespace jitquill
