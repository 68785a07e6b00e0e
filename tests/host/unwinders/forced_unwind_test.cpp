// A thread that ends, by itself or cancelled, runs its cleanups through announced code. Only with libgcc as
// the host's unwinder: glibc always takes libgcc for this, and beside another unwinder C++ cleanups are
// skipped (libunwind 1.6) or crash (LLVM 14), with jitted code or without.
#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>

#include "tests/host/unwinders/chain_code.hpp"

namespace jitquill::test {
namespace {

// What a thread's end runs on its way.
struct Cleanup {
  std::atomic<int>& ran;
  ~Cleanup() { ++ran; }
};

std::atomic<int> cleanups{0};
std::atomic<bool> is_waiting{false};

void exit_thread(void**) {
  pthread_exit(nullptr);
}
void wait_for_cancel(void**) {
  is_waiting = true;
  for (;;) pause();
}

// Runs the chain in a thread that has a Cleanup below it.
void* thread_body(void* argument) {
  const auto& chain = *static_cast<std::vector<void*>*>(argument);
  const Cleanup cleanup{cleanups};
  reinterpret_cast<Link>(chain[0])(const_cast<void**>(chain.data() + 1));
  return argument;
}

std::vector<void*> chain_to(CodeArena& arena, Link last) {
  std::vector<void*> chain;
  for (std::size_t i = 0; i < 5; ++i)
    chain.push_back(place(arena, i * 64, static_cast<std::uint32_t>(32 * i + 16)));
  chain.push_back(reinterpret_cast<void*>(last));
  return chain;
}

TEST(ForcedUnwind, ExitOfAThreadRunsItsCleanups) {
  CodeArena arena(4096);
  std::vector<void*> chain = chain_to(arena, &exit_thread);
  cleanups = 0;
  pthread_t thread{};
  void* result = &thread;
  ASSERT_EQ(pthread_create(&thread, nullptr, thread_body, &chain), 0);
  ASSERT_EQ(pthread_join(thread, &result), 0);
  EXPECT_EQ(result, nullptr);
  EXPECT_EQ(cleanups, 1);
  for (std::size_t i = 0; i < 5; ++i) jitquill_code_unloaded(chain[i]);
}

TEST(ForcedUnwind, CancellationRunsCleanups) {
  CodeArena arena(4096);
  std::vector<void*> chain = chain_to(arena, &wait_for_cancel);
  cleanups = 0;
  is_waiting = false;
  pthread_t thread{};
  void* result = nullptr;
  ASSERT_EQ(pthread_create(&thread, nullptr, thread_body, &chain), 0);
  while (!is_waiting) sched_yield();
  ASSERT_EQ(pthread_cancel(thread), 0);
  ASSERT_EQ(pthread_join(thread, &result), 0);
  EXPECT_EQ(result, PTHREAD_CANCELED);
  EXPECT_EQ(cleanups, 1);
  for (std::size_t i = 0; i < 5; ++i) jitquill_code_unloaded(chain[i]);
}

}  // namespace
}  // namespace jitquill::test
