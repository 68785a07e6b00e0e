#include "agent/base/own_thread.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <thread>

#include "writer/bytes/raw_calls.hpp"

namespace jitquill {
namespace {

constexpr std::size_t kStackSize = 64 * 1024;
constexpr int kNone = -1;

int own_policy() {
  return static_cast<int>(raw::call(SYS_sched_getscheduler, 0));
}

// Of a thread of ours that the calling one starts.
int policy_of_ours() {
  static std::atomic<int> policy;
  policy = kNone;
  const auto tell = [] {
    policy = own_policy();
    policy.notify_all();
  };
  if (!start_own_thread(tell, kStackSize)) return kNone;
  policy.wait(kNone);
  return policy;
}

TEST(OwnThread, TakesNoCpuFromTheThreadThatWakesIt) {
  if (own_policy() != SCHED_OTHER) GTEST_SKIP() << "the tests run under another policy";
  EXPECT_EQ(policy_of_ours(), SCHED_BATCH);
  EXPECT_EQ(own_policy(), SCHED_OTHER);
}

TEST(OwnThread, KeepsThePolicyThatItsHostChose) {
  bool may = false;
  int ours = kNone;
  std::thread([&] {
    const sched_param least{.sched_priority = 1};
    may = raw::call(SYS_sched_setscheduler, 0, SCHED_FIFO, &least) == 0;
    if (may) ours = policy_of_ours();
  }).join();
  if (!may) GTEST_SKIP() << "no right to real time here";
  EXPECT_EQ(ours, SCHED_FIFO);
}

}  // namespace
}  // namespace jitquill
