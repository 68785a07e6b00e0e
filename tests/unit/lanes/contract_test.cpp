// What the hooks of sites keep: every register but r10, r11 and flags, whatever they do behind.
#include <gtest/gtest.h>

#include <array>
#include <thread>

#include "agent/hooks/cpu.hpp"
#include "tests/unit/lanes/contract.hpp"
#include "tests/unit/lanes/lane_run.hpp"
#include "tests/unit/lanes/own_process.hpp"
#include "tests/unit/lanes/traced_code.hpp"

extern "C" int spoil_vectors(std::uint32_t, const void*);

namespace lanes_test {
namespace {

using namespace jitquill::lanes;

// Functions with one site each.
struct Sites {
  TracedCode code;
  std::array<const std::uint8_t*, 3> functions{};

  Sites() {
    functions[0] = code.here();
    code.enter(1).ret();
    code.bytes({0x90});
    functions[1] = code.here();
    code.leave(1).ret();
    functions[2] = code.here();
    code.tail(1).ret();
  }
};

TEST(Contract, OfTheFastPath) {
  in_own_process([] {
    const LaneRun run;
    const Sites sites;
    call_code(sites.functions[0]);
    for (const std::uint8_t* const function : sites.functions) expect_kept(function);
    EXPECT_EQ(run.only_lane().records.size(), 7u);
  });
}

TEST(Contract, OfAThreadsFirstRecord) {
  in_own_process([] {
    const LaneRun run;
    const Sites sites;
    for (const std::uint8_t* const function : sites.functions)
      std::thread([function] { expect_kept(function); }).join();
  });
}

TEST(Contract, OfAFirstRecordWhoseLibcUsesVectors) {
  in_own_process([] {
    const LaneRun run;
    const Sites sites;
    ASSERT_NE(g_pool_page.load()->set_end_key, nullptr);
    g_pool_page.load()->set_end_key = spoil_vectors;
    for (const std::uint8_t* const function : sites.functions)
      std::thread([function] { expect_kept(function); }).join();
  });
}

TEST(Contract, OfTheNextBlockAndTheNextChunk) {
  in_own_process([] {
    const LaneRun run;
    const Sites sites;
    for (const std::uint8_t* const function : sites.functions) {
      for (std::size_t pair = 0; pair < 3 * kRecordsPerBlock / 2; ++pair) {
        if (pair % (kRecordsPerBlock / 2) < 2) {
          expect_kept(function);
          continue;
        }
        call_code(function);
        call_code(function);
      }
    }
    EXPECT_EQ(run.only_lane().records.size(), 9 * kRecordsPerBlock);
  });
}

TEST(Contract, OfHooksThatPutNothing) {
  in_own_process([] {
    const Sites sites;
    for (const std::uint8_t* const function : sites.functions) expect_kept(function);  // no pool
    const LaneRun run({.memory_bytes = kChunksAt + kChunkSizes[0], .policy = Policy::kDrop});
    for (std::size_t i = 0; i < kRecordsPerBlock; ++i) call_code(sites.functions[0]);
    for (const std::uint8_t* const function : sites.functions) expect_kept(function);  // no room
    Pool::switch_off();
    for (const std::uint8_t* const function : sites.functions) expect_kept(function);
    EXPECT_EQ(run.only_lane().lost, 6u);
  });
}

}  // namespace
}  // namespace lanes_test
