// A handler with traced calls of its own, at every instruction of the hooks and of what is behind them.
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

#include "agent/lanes/lane.hpp"
#include "tests/unit/lanes/lane_run.hpp"
#include "tests/unit/lanes/own_process.hpp"
#include "tests/unit/lanes/traced_code.hpp"

namespace lanes_test {
namespace {

using namespace jitquill::lanes;

constexpr std::uint32_t kOuter = 1, kInner = 2;
const std::uint8_t* g_inner = nullptr;
std::uint64_t g_steps = 0;
std::uint64_t g_only_at = 0;  // 0 = at all steps
std::uint64_t g_calls = 0;    // of the handler's

constexpr greg_t kTrapFlag = 0x100;

void on_step(int, siginfo_t*, void* context) {
  ++g_steps;
  if (g_only_at != 0 && g_steps != g_only_at) return;
  ++g_calls;
  call_code(g_inner);
  if (g_only_at != 0) static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_EFL] &= ~kTrapFlag;
}

// Between the two, each instruction of this thread raises SIGTRAP.
[[gnu::noinline]] void step_on() {
  asm volatile("pushfq; orq $0x100, (%%rsp); popfq" : : : "memory", "cc");
}
[[gnu::noinline]] void step_off() {
  asm volatile("pushfq; andq $~0x100, (%%rsp); popfq" : : : "memory", "cc");
}

template <class Body>
void step(Body body) {
  struct sigaction action {};
  action.sa_sigaction = on_step;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGTRAP, &action, nullptr);
  step_on();
  body();
  step_off();
}

// Each of the outer and each of the handlers' records is there once, or counted.
void expect_all_there(const LaneRun& run, std::uint64_t outer) {
  const FoundLane lane = run.only_lane();
  EXPECT_EQ(lane.holes, 0u);
  std::uint64_t outer_found = 0, inner_found = 0, leaves = 0, others = 0;
  for (const Found& record : lane.records) {
    leaves += record.kind == RecordKind::kLeave;
    if (record.kind == RecordKind::kLeave) continue;
    outer_found += record.kind == RecordKind::kEnter && record.what == kOuter;
    inner_found += record.kind == RecordKind::kEnter && record.what == kInner;
    others += record.kind != RecordKind::kEnter;
  }
  EXPECT_EQ(others, 0u);
  EXPECT_LE(outer_found, outer);
  EXPECT_LE(inner_found, g_calls);
  EXPECT_EQ(outer_found + inner_found + leaves + lane.lost + Pool::lost_without_lane(),
            2 * outer + 2 * g_calls);
}

TEST(Nested, AtEveryStepOfTheFastPath) {
  in_own_process([] {
    const LaneRun run;
    TracedCode code;
    g_inner = code.leaf(kInner);
    const std::uint8_t* const outer = code.leaf(kOuter);
    call_code(outer);
    step([&] { call_code(outer); });
    EXPECT_GT(g_steps, 40u);
    expect_all_there(run, 2);
    EXPECT_EQ(run.only_lane().lost, 0u);
  });
}

// How many steps the call behind `records` earlier ones takes, and what became of them with a handler at step
// `only_at`.
std::uint64_t steps_behind(std::uint64_t records, std::uint64_t only_at) {
  const LaneRun run;
  TracedCode code;
  g_inner = code.leaf(kInner);
  g_only_at = only_at;
  const std::uint8_t* const outer = code.leaf(kOuter);
  for (std::uint64_t i = 0; i < records / 2; ++i) call_code(outer);
  step([&] { call_code(outer); });
  call_code(outer);
  expect_all_there(run, records / 2 + 2);
  return g_steps;
}

// In a thread whose stack is the first of all mappings, so that it is found in few steps.
template <class Body>
void on_low_stack(Body body) {
  constexpr std::size_t kSize = 256 * 1024;
  void* const stack =
      mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
  ASSERT_NE(stack, MAP_FAILED);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  ASSERT_EQ(pthread_attr_setstack(&attributes, stack, kSize), 0);
  pthread_t thread{};
  const auto run = [](void* f) -> void* {
    (*static_cast<Body*>(f))();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, run, &body), 0);
  pthread_join(thread, nullptr);
}

void expect_at_every_step(std::uint64_t records) {
  std::uint64_t count = 0;
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  in_own_process([&] {
    on_low_stack([&] {
      const std::uint64_t steps = steps_behind(records, ~std::uint64_t{0});
      ASSERT_EQ(write(pipe_ends[1], &steps, sizeof steps), ssize_t{sizeof steps});
    });
  });
  ASSERT_EQ(read(pipe_ends[0], &count, sizeof count), ssize_t{sizeof count});
  close(pipe_ends[0]);
  close(pipe_ends[1]);
  ASSERT_GT(count, 100u);
  // All of the first, where a record's way begins, and some of the others: each is a process.
  const bool is_long = std::getenv("JITQUILL_LONG") != nullptr;
  const std::uint64_t all_first = is_long ? 400 : 80;
  const std::uint64_t stride = count / (is_long ? 200 : 10) + 1;
  for (std::uint64_t step = 1; step <= count; step += step < all_first ? 1 : stride) {
    in_own_process([&] { on_low_stack([&] { (void)steps_behind(records, step); }); });
    ASSERT_FALSE(testing::Test::HasFailure()) << "step " << step << " of " << count;
  }
}

TEST(Nested, AtEveryStepOfAThreadsFirstRecord) {
  expect_at_every_step(0);
}

// In the second chunk; the call's entry finds the block full.
TEST(Nested, AtEveryStepOfTheNextBlock) {
  expect_at_every_step(3 * kRecordsPerBlock);
}

TEST(Nested, AtEveryStepOfTheNextChunk) {
  expect_at_every_step(kRecordsPerBlock);
}

volatile sig_atomic_t g_ticks = 0;

TEST(Nested, ByATimerLosesNothing) {
  in_own_process([] {
    const LaneRun run;
    TracedCode code;
    g_inner = code.leaf(kInner);
    const std::uint8_t* const outer = code.leaf(kOuter);
    struct sigaction action {};
    action.sa_handler = [](int) {
      g_ticks = g_ticks + 1;
      call_code(g_inner);
    };
    sigaction(SIGALRM, &action, nullptr);
    const itimerval often{{0, 100}, {0, 100}};
    setitimer(ITIMER_REAL, &often, nullptr);
    constexpr std::uint64_t kCalls = 500'000;
    for (std::uint64_t i = 0; i < kCalls; ++i) call_code(outer);
    const itimerval never{};
    setitimer(ITIMER_REAL, &never, nullptr);
    g_calls = static_cast<std::uint64_t>(g_ticks);
    expect_all_there(run, kCalls);
    EXPECT_EQ(run.only_lane().lost, 0u);
    EXPECT_EQ(run.only_lane().records.size(), 2 * (kCalls + g_calls));
  });
}

}  // namespace
}  // namespace lanes_test
