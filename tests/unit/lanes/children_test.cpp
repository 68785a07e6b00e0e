// Children of a traced process write nothing into its lanes, however they were made.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>

#include <functional>
#include <thread>

#include "tests/unit/lanes/lane_run.hpp"
#include "tests/unit/lanes/own_process.hpp"
#include "tests/unit/lanes/traced_code.hpp"

namespace lanes_test {
namespace {

using namespace jitquill::lanes;

// All of the lanes as they lie there, the page of the clocks aside.
std::vector<std::uint8_t> bytes_of_lanes() {
  const std::span<std::uint8_t> memory = Pool::memory();
  const auto used = reinterpret_cast<PoolHeader*>(memory.data())->used_bytes.load();
  std::vector<std::uint8_t> bytes;
  const auto view = PoolView::over(memory);
  for (std::uint32_t row = 0; row < view->lane_count(); ++row) {
    const auto* const at = reinterpret_cast<const std::uint8_t*>(&view->lane(row));
    bytes.insert(bytes.end(), at, at + sizeof(Lane));
  }
  bytes.insert(bytes.end(), memory.begin() + kChunksAt, memory.begin() + static_cast<std::ptrdiff_t>(used));
  return bytes;
}

// Runs `child` by `make` and waits for it; the parent's lanes are as before.
void expect_left_alone(const std::function<pid_t()>& make, const std::function<void()>& child) {
  const std::vector<std::uint8_t> before = bytes_of_lanes();
  const pid_t pid = make();
  ASSERT_NE(pid, -1);
  if (pid == 0) {
    child();
    _exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(pid, &status, 0), pid);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(bytes_of_lanes(), before);
}

const std::uint8_t* g_leaf = nullptr;

void lose_some() {
  const std::uint64_t before = Pool::lost_without_lane();
  for (int i = 0; i < 100; ++i) call_code(g_leaf);
  EXPECT_EQ(Pool::lost_without_lane() - before, 200u);
}

TEST(Children, OfForkAndOfRawCloneLoseTheirsAndCount) {
  in_own_process([] {
    const LaneRun run;
    TracedCode code;
    g_leaf = code.leaf(1);
    call_code(g_leaf);
    expect_left_alone([] { return fork(); }, lose_some);
    expect_left_alone(
        [] { return static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr)); },
        lose_some);
    call_code(g_leaf);
    EXPECT_EQ(run.only_lane().records.size(), 4u);
  });
}

TEST(Children, InEarlyAtforkHandlersLoseTheirsToo) {
  in_own_process([] {
    TracedCode code;
    g_leaf = code.leaf(1);
    pthread_atfork(nullptr, nullptr, [] { call_code(g_leaf); });  // before any handler of the agent
    const LaneRun run;
    call_code(g_leaf);
    expect_left_alone([] { return fork(); }, [] { EXPECT_EQ(Pool::lost_without_lane(), 2u); });
  });
}

TEST(Children, StartPoolsOfTheirOwn) {
  in_own_process([] {
    const LaneRun run;
    TracedCode code;
    g_leaf = code.leaf(1);
    std::thread([] { call_code(g_leaf); }).join();
    call_code(g_leaf);  // the second row, which the child's first thread will have too
    expect_left_alone([] { return fork(); },
                      [] {
                        const LaneRun own;
                        ASSERT_EQ(own.started(), 0);
                        // Another thread has the rows first: the old cursor of this one must not lead into
                        // them.
                        for (int i = 0; i < 2; ++i) std::thread([] { call_code(g_leaf); }).join();
                        call_code(g_leaf);
                        const std::vector<FoundLane> lanes = own.lanes();
                        ASSERT_EQ(lanes.size(), 3u);
                        for (const FoundLane& lane : lanes)
                          EXPECT_EQ(lane.records.size(), lane.thread == 2 ? 2u : 3u);
                        EXPECT_EQ(lanes[2].tid, static_cast<std::uint32_t>(getpid()));
                      });
  });
}

TEST(Children, SwitchedOffLoseNothingThatCounts) {
  in_own_process([] {
    const LaneRun run;
    TracedCode code;
    g_leaf = code.leaf(1);
    call_code(g_leaf);
    expect_left_alone([] { return fork(); },
                      [] {
                        Pool::switch_off();
                        for (int i = 0; i < 1000; ++i) call_code(g_leaf);
                        EXPECT_EQ(Pool::lost_without_lane(), 0u);
                      });
  });
}

// The child runs on this thread's stack until it ends.
[[gnu::noinline]] pid_t vfork_and_call() {
  const pid_t child = vfork();
  if (child == 0) {
    call_code(g_leaf);
    _exit(0);
  }
  return child;
}

TEST(Children, OfVforkWriteIntoTheLaneOfTheWaitingParent) {
  in_own_process([] {
    const LaneRun run;
    TracedCode code;
    g_leaf = code.leaf(1);
    call_code(g_leaf);
    const pid_t child = vfork_and_call();
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    call_code(g_leaf);
    EXPECT_EQ(run.only_lane().records.size(), 6u);
  });
}

}  // namespace
}  // namespace lanes_test
