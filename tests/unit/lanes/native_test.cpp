// The hooks of native functions: what they keep, what they put, and what becomes of return addresses.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>

#include "agent/hooks/mirror.hpp"
#include "agent/hooks/name_targets.hpp"
#include "agent/lanes/hook_trouble.hpp"
#include "tests/unit/lanes/contract.hpp"
#include "tests/unit/lanes/lane_run.hpp"
#include "tests/unit/lanes/own_process.hpp"

extern "C" {
void jitquill_native_wake();
const void* jitquill_native_wake_up(std::uint64_t number) noexcept;
void with_fentry();
void with_return();
void with_mcount();
void with_copied_return();
void with_tail_call();
void with_nothing();
void jitquill_native_nothing();
void with_wake();
void with_chain();
std::uint64_t chain_kept();
const void* taken_return(const void** slot);
void calls_back(void (*function)());
void with_broken_word();
void with_broken_copy();
void with_broken_words();
void with_foreign_word();
void with_broken_word_and_return();
}

namespace lanes_test {
namespace {

using namespace jitquill;
using namespace jitquill::lanes;

using Function = void (*)();
constexpr Function kFunctions[] = {with_fentry, with_return, with_mcount, with_tail_call, with_chain};

void expect_kept(Function function) {
  lanes_test::expect_kept(reinterpret_cast<const std::uint8_t*>(function));
}

std::string kinds(const LaneRun& run) {
  std::string words;
  for (const auto& record : run.only_lane().records)
    words += std::to_string(static_cast<int>(record.kind)) + " ";
  return words;
}

bool is_taken(const void* in_slot) {
  const auto entry =
      reinterpret_cast<std::uint64_t>(in_slot) - reinterpret_cast<std::uint64_t>(jitquill_return_hook);
  return entry < JITQUILL_RETURN_HOOK_SIZE;
}

class Native : public testing::Test {
 protected:
  void SetUp() override {
#ifdef __SANITIZE_THREAD__
    GTEST_SKIP() << "ThreadSanitizer's memory is where the mirror would be";
#endif
  }
};

TEST_F(Native, HooksKeepRegisters) {
  in_own_process([] {
    mirror::start({});
    for (const Function function : kFunctions) expect_kept(function);  // no pool
    expect_kept(with_nothing);
    expect_kept(with_wake);
    const LaneRun run;
    for (const Function function : kFunctions) expect_kept(function);
    for (const Function function : kFunctions) std::thread([function] { expect_kept(function); }).join();
    Pool::switch_off();
    for (const Function function : kFunctions) expect_kept(function);
    EXPECT_EQ(mirror::calls_without_slot(), 0u);
    EXPECT_EQ(mirror::calls_without_mirror(), 0u);
  });
}

// Behind the jump of the name itself, and with the mark that compilers put where jumps may lead.
TEST_F(Native, WhereNothingIsTracedThereIsABareReturn) {
  static constexpr std::uint8_t kBare[] = {0xF3, 0x0F, 0x1E, 0xFA, 0xC3};
  EXPECT_EQ(std::memcmp(reinterpret_cast<const void*>(&jitquill_native_nothing), kBare, sizeof kBare), 0);
}

int g_wakes = 0;
int spoil_vectors(std::uint32_t, const void*) {
  asm volatile("pxor %%xmm0, %%xmm0; pxor %%xmm7, %%xmm7; fninit" ::: "xmm0", "xmm7");
  if (__builtin_cpu_supports("avx")) asm volatile("vzeroall" ::: "memory");
  return ++g_wakes;
}

// Each argument register holds something when a function is called for the first time.
TEST_F(Native, WhoWakesTheAgentMayUseAllRegisters) {
  in_own_process([] {
    std::atomic<const void*> targets[2] = {nullptr, nullptr};
    static const void* const kHooks[] = {nullptr, nullptr};
    name_targets::wake_by(spoil_vectors);
    name_targets::add(targets, kHooks, 2);
    name_targets::turn(name_targets::Mode::kWake);
    expect_kept(with_wake);
    EXPECT_GT(g_wakes, 0);
    const int wakes = g_wakes;
    name_targets::turn(name_targets::Mode::kOff);
    expect_kept(with_wake);  // a thread that was on its way there
    EXPECT_EQ(g_wakes, wakes);
  });
}

// The second one's name comes next behind the first one's: were it served as the first one's, it would lead
// to itself.
TEST_F(Native, EachLibrarysNameGoesOnAsItsOwnWhileNobodyWakes) {
  in_own_process([] {
    static const void* const kHooks[] = {nullptr};
    const int next = 0, last = 0;
    std::atomic<const void*> first[1] = {&next}, second[1] = {&last};
    name_targets::wake_by(nullptr);
    name_targets::add(first, kHooks, 1);
    name_targets::add(second, kHooks, 1);
    name_targets::turn(name_targets::Mode::kWake);
    const auto goes_on = [](const void* target) {
      const auto* const entries = reinterpret_cast<const std::uint8_t*>(&jitquill_native_wake);
      const auto from = static_cast<const std::uint8_t*>(target) - entries;
      EXPECT_EQ(entries[from + 4], 0x6A) << "push";
      return jitquill_native_wake_up(entries[from + 5]);
    };
    EXPECT_EQ(goes_on(first[0]), &next);
    EXPECT_EQ(goes_on(second[0]), &last);
  });
}

TEST_F(Native, HooksPutWhatHappens) {
  in_own_process([] {
    mirror::start({});
    const LaneRun run;
    for (const Function function : kFunctions) function();
    EXPECT_EQ(kinds(run), "4 2 4 2 4 2 4 3 4 2 4 2 ");
    const auto records = run.only_lane().records;
    for (std::size_t i = 0; i + 1 < records.size(); i += 2)
      EXPECT_EQ(records[i].slot, records[i + 1].slot) << i;
    EXPECT_GT(records[0].what, reinterpret_cast<std::uint64_t>(&with_fentry));
    EXPECT_LE(records[0].what, reinterpret_cast<std::uint64_t>(&with_fentry) + 6);
  });
}

// gcc pushes r10 before it calls __fentry__ in a nested function.
TEST_F(Native, TheStaticChainIsNoReturnAddress) {
  in_own_process([] {
    mirror::start({});
    const LaneRun run;
    for (int i = 0; i < 3; ++i) EXPECT_EQ(chain_kept(), 1u);
    EXPECT_EQ(kinds(run), "4 2 4 2 4 2 ");
  });
}

TEST_F(Native, ACopyOfAReturnAddressIsLeftAlone) {
  in_own_process([] {
    mirror::start({});
    const LaneRun run;
    with_fentry();
    for (int i = 0; i < 3; ++i) with_copied_return();
    EXPECT_EQ(kinds(run), "4 2 ");
    EXPECT_EQ(mirror::calls_without_slot(), 3u);
  });
}

TEST_F(Native, TheMirrorSaysWhereAFunctionReturnsTo) {
  in_own_process([] {
    mirror::start({});
    const LaneRun run;
    const void* slot = nullptr;
    const auto taken = reinterpret_cast<std::uint64_t>(taken_return(&slot));
    EXPECT_TRUE(is_taken(reinterpret_cast<const void*>(taken)));
    const std::uint64_t back = mirror::return_address(taken, reinterpret_cast<std::uint64_t>(slot));
    EXPECT_NE(back, taken);
    EXPECT_NE(back, 0u);
    EXPECT_EQ(mirror::return_address(back, 0), back);  // not ours
    EXPECT_EQ(mirror::return_address(taken, 64), 0u);  // where no mirror can be
  });
}

// As on machines with shadow stacks, but for the reason.
TEST_F(Native, WhereAMirrorCannotBeTheHostGoesOn) {
  in_own_process([] {
    mirror::start({});
    const auto here = reinterpret_cast<std::uint64_t>(__builtin_frame_address(0));
    const std::uint64_t piece = (here - mirror::kDistance) & ~(mirror::kPieceSize - 1);
    ASSERT_NE(mmap(reinterpret_cast<void*>(piece), 4096, PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0),
              MAP_FAILED);
    const LaneRun run;
    const void* slot = nullptr;
    for (int i = 0; i < 3; ++i) {
      const void* const in_slot = taken_return(&slot);
      EXPECT_FALSE(is_taken(in_slot));
    }
    EXPECT_EQ(mirror::calls_without_mirror(), 3u);
    EXPECT_EQ(run.lanes().size(), 0u);
  });
}

TEST_F(Native, FunctionsThatTellOfTheirEndsNeedNoMirror) {
  in_own_process([] {
    mirror::start({.has_exit_sites = true});
    const auto here = reinterpret_cast<std::uint64_t>(__builtin_frame_address(0));
    const std::uint64_t piece = (here - mirror::kDistance) & ~(mirror::kPieceSize - 1);
    ASSERT_NE(mmap(reinterpret_cast<void*>(piece), 4096, PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0),
              MAP_FAILED);
    const LaneRun run;
    with_return();
    EXPECT_EQ(kinds(run), "4 2 ");
    EXPECT_EQ(mirror::calls_without_mirror(), 0u);
  });
}

constexpr Function kMendable[] = {with_broken_word, with_broken_copy, with_broken_word_and_return};

// What was taken before goes back where it was for ever; nothing is taken any more.
TEST_F(Native, AMirrorWordThatIsWrittenOverEndsTracingAndNotTheHost) {
  for (const Function function : kMendable) {
    in_own_process([function] {
      mirror::start({});
      const LaneRun run;
      expect_kept(function);
      EXPECT_EQ(mirror::broken_returns(), 1u);
      EXPECT_NE(take_trouble(), nullptr);
      EXPECT_EQ(take_trouble(), nullptr);
      const std::string before = kinds(run);
      EXPECT_TRUE(before.starts_with("4 2 ")) << before;
      const void* slot = nullptr;
      EXPECT_FALSE(is_taken(taken_return(&slot)));
      for (const Function other : kFunctions) expect_kept(other);
      std::thread([] { with_fentry(); }).join();
      EXPECT_EQ(mirror::calls_without_mirror(), 0u) << "is another trouble";
    });
  }
}

void on_lost_address(int) {
  _exit(99);
}

// No address is made up: what is in both words is no way back, or another frame's.
TEST_F(Native, WhatNobodyKnowsIsNotGuessed) {
  for (const Function function : {with_broken_words, with_foreign_word}) {
    const pid_t child = fork();
    if (child == 0) {
      signal(SIGSEGV, on_lost_address);
      close(2);
      mirror::start({});
      const LaneRun run;
      function();
      _exit(0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 99) << status;
  }
}

int g_depth = 0;
void go_deeper() {
  if (g_depth-- != 0) return calls_back(go_deeper);
  with_broken_word();
}

TEST_F(Native, ReturnsInFlightOutliveTheEndOfTracing) {
  in_own_process([] {
    mirror::start({});
    const LaneRun run;
    g_depth = 100;
    go_deeper();
    EXPECT_EQ(mirror::broken_returns(), 1u);
    const auto records = run.only_lane().records;
    const auto is_leave = [](const Found& found) { return found.kind == RecordKind::kLeave; };
    EXPECT_EQ(std::ranges::count_if(records, is_leave), 101);
  });
}

}  // namespace
}  // namespace lanes_test
