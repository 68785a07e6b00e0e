// The hooks of native functions: what they keep, what they put, and what becomes of return addresses.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <thread>

#include "agent/hooks/mirror.hpp"
#include "tests/unit/lanes/contract.hpp"
#include "tests/unit/lanes/lane_run.hpp"
#include "tests/unit/lanes/own_process.hpp"

extern "C" {
void with_fentry();
void with_return();
void with_mcount();
void with_copied_return();
void with_tail_call();
void with_nothing();
void with_chain();
std::uint64_t chain_kept();
const void* taken_return(const void** slot);
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
    const LaneRun run;
    for (const Function function : kFunctions) expect_kept(function);
    for (const Function function : kFunctions) std::thread([function] { expect_kept(function); }).join();
    Pool::switch_off();
    for (const Function function : kFunctions) expect_kept(function);
    EXPECT_EQ(mirror::calls_without_slot(), 0u);
    EXPECT_EQ(mirror::calls_without_mirror(), 0u);
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
    EXPECT_EQ(taken, reinterpret_cast<std::uint64_t>(jitquill_return_hook));
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
      EXPECT_NE(in_slot, jitquill_return_hook);
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

}  // namespace
}  // namespace lanes_test
