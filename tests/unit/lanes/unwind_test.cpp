// Unwinding from every instruction of the hooks, and of what is behind them, finds who called.
#include <gtest/gtest.h>
#include <signal.h>
#include <unwind.h>

#include <cstdint>

#include "agent/hooks/mirror.hpp"
#include "agent/hooks/site_hooks.hpp"
#include "agent/lanes/wanted_stacks.hpp"
#include "tests/unit/lanes/lane_run.hpp"
#include "tests/unit/lanes/own_process.hpp"

extern "C" {
void with_fentry();
void with_return();
void with_mcount();
void with_tail_call();
void with_chain();
void with_wake();
void with_broken_copy();
void with_broken_copy_and_return();
void with_fentry_stack();
void with_mcount_stack();
void with_cyg_stack();
}

namespace lanes_test {
namespace {

using namespace jitquill::lanes;

struct Walk {
  std::uint64_t wanted = 0;  // the canonical frame address of the caller
  bool is_found = false;
};

std::uint64_t g_caller_frame = 0;
std::uint64_t g_steps = 0, g_lost_ways = 0;

_Unwind_Reason_Code visit(_Unwind_Context* context, void* argument) {
  auto& walk = *static_cast<Walk*>(argument);
  walk.is_found = walk.is_found || _Unwind_GetCFA(context) == walk.wanted;
  return walk.is_found ? _URC_END_OF_STACK : _URC_NO_REASON;
}

void on_step(int) {
  Walk walk{.wanted = g_caller_frame};
  (void)_Unwind_Backtrace(visit, &walk);
  ++g_steps;
  g_lost_ways += !walk.is_found;
}

// Its own frame's address is what each walk must meet.
[[gnu::noinline]] void call_stepped(void (*hook)()) {
  g_caller_frame = reinterpret_cast<std::uint64_t>(__builtin_dwarf_cfa());
  // Below what the compiler may keep under rsp, which does not see that there is a call.
  asm volatile(
      "mov %%rsp, %%r12; lea -256(%%rsp), %%rsp; and $-16, %%rsp\n"
      "pushfq; orq $0x100, (%%rsp); popfq\n"
      "call *%0\n"
      "pushfq; andq $~0x100, (%%rsp); popfq\n"
      "mov %%r12, %%rsp"
      :
      : "b"(hook)
      : "memory", "cc", "r10", "r11", "r12");
}

void expect_found_everywhere() {
  for (void (*const hook)() :
       {jitquill_site_enter, jitquill_site_leave, jitquill_site_tail, with_fentry, with_return, with_mcount,
        with_tail_call, with_chain, with_wake, with_fentry_stack, with_mcount_stack, with_cyg_stack}) {
    g_steps = 0;
    call_stepped(hook);
    EXPECT_GT(g_steps, 20u);
    EXPECT_EQ(g_lost_ways, 0u) << "of " << g_steps;
  }
}

TEST(Unwinding, PassesTheHooksAtEveryStep) {
  in_own_process([] {
    struct sigaction action {};
    action.sa_handler = on_step;
    sigaction(SIGTRAP, &action, nullptr);
    jitquill::mirror::start({});
    expect_found_everywhere();  // no pool: the slow path's own frame
    jitquill::GrowingArray<AddressSpan> seen, wanted;
    tell_wanted_stacks(seen, wanted);  // so all are
    const LaneRun run({.memory_bytes = kChunksAt + kChunkSizes[0], .policy = Policy::kDrop});
    jitquill_site_enter();  // the first, which reads much of /proc
    expect_found_everywhere();
    for (std::size_t i = 0; i < kRecordsPerBlock; ++i) jitquill_site_enter();
    expect_found_everywhere();  // no room
  });
}

// The word that tables name is right there: its copy is not.
TEST(Unwinding, PassesTheMendingOfAReturn) {
  for (void (*const function)() : {with_broken_copy, with_broken_copy_and_return}) {
    in_own_process([function] {
#ifdef __SANITIZE_THREAD__
      _exit(kSkipped);
#endif
      struct sigaction action {};
      action.sa_handler = on_step;
      sigaction(SIGTRAP, &action, nullptr);
      jitquill::mirror::start({});
      const LaneRun run;
      jitquill_site_enter();
      g_steps = 0;
      call_stepped(function);
      EXPECT_EQ(jitquill::mirror::broken_returns(), 1u);
      EXPECT_GT(g_steps, 1000u);
      EXPECT_EQ(g_lost_ways, 0u) << "of " << g_steps;
    });
  }
}

}  // namespace
}  // namespace lanes_test
