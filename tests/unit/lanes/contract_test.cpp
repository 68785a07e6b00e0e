// What the hooks of sites keep: every register but r10, r11 and flags, whatever they do behind.
#include <cpuid.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <random>
#include <thread>

#include "agent/hooks/cpu.hpp"
#include "tests/unit/lanes/lane_run.hpp"
#include "tests/unit/lanes/own_process.hpp"
#include "tests/unit/lanes/traced_code.hpp"

namespace {

struct alignas(64) VectorArea {
  std::array<std::uint8_t, 4096> bytes{};
};

struct Contract {
  std::uint64_t before[15] = {};
  std::uint64_t after[15] = {};
  VectorArea *vectors_before = nullptr, *vectors_after = nullptr, *vectors_none = nullptr;
};
static_assert(offsetof(Contract, after) == 120 && offsetof(Contract, vectors_before) == 240);

}  // namespace

extern "C" void contract_call(const void* function, const Contract* contract, std::uint64_t shift);
extern "C" int spoil_vectors(std::uint32_t, const void*);

namespace lanes_test {
namespace {

using namespace jitquill::lanes;

// A piece of the area and what it holds.
struct Piece {
  const char* name;
  std::size_t at;
  std::size_t size;
};

std::uint64_t enabled_states() {
  std::uint32_t low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (std::uint64_t{high} << 32 | low) & 0xe7;
}

std::vector<Piece> pieces() {
  std::vector<Piece> all = {{"x87 control, status and tags", 0, 5}, {"MXCSR", 24, 4}};
  for (std::size_t i = 0; i < 8; ++i) all.push_back({"st", 32 + 16 * i, 10});
  for (std::size_t i = 0; i < 16; ++i) all.push_back({"xmm", 160 + 16 * i, 16});
  constexpr const char* kNames[] = {
      "", "", "upper halves of ymm", "", "", "mask registers", "upper halves of zmm", "zmm16 to zmm31"};
  for (const std::uint32_t state : {2u, 5u, 6u, 7u}) {
    std::uint32_t size = 0, at = 0, c = 0, d = 0;
    if ((enabled_states() >> state & 1) != 0 && __get_cpuid_count(0xD, state, &size, &at, &c, &d) != 0)
      all.push_back({kNames[state], at, size});
  }
  return all;
}

template <class T>
void set(VectorArea& area, std::size_t at, T value) {
  std::memcpy(area.bytes.data() + at, &value, sizeof value);
}

// Each register a value that occurs nowhere else.
void fill(VectorArea& area, std::mt19937& random) {
  for (const Piece& piece : pieces())
    for (std::size_t i = 0; i < piece.size; ++i)
      area.bytes[piece.at + i] = static_cast<std::uint8_t>(random());
  set<std::uint16_t>(area, 0, 0x027F);  // double precision
  set<std::uint16_t>(area, 2, 0);
  set<std::uint8_t>(area, 4, 0xFF);      // all in use
  set<std::uint32_t>(area, 24, 0x5F80);  // rounds up
  for (std::size_t i = 0; i < 8; ++i)
    set<std::uint16_t>(area, 32 + 16 * i + 8, 0x3FFF), area.bytes[32 + 16 * i + 7] |= 0x80;
  set<std::uint64_t>(area, 512, enabled_states());
}

// Calls the function at both alignments; names what did not stay.
void expect_kept(const std::uint8_t* function) {
  std::mt19937 random(1);
  for (const std::uint64_t shift : {std::uint64_t{0}, std::uint64_t{8}}) {
    VectorArea before, after, none;
    fill(before, random);
    set<std::uint32_t>(none, 24, 0x1F80);
    Contract contract{{}, {}, &before, &after, &none};
    for (std::uint64_t& value : contract.before) value = std::uint64_t{random()} << 32 | random();
    contract_call(function, &contract, shift);
    for (int i = 0; i < 13; ++i)
      EXPECT_EQ(contract.after[i], contract.before[i]) << "register " << i << ", shift " << shift;
    for (const Piece& piece : pieces())
      EXPECT_EQ(std::memcmp(&before.bytes[piece.at], &after.bytes[piece.at], piece.size), 0)
          << piece.name << " at " << piece.at << ", shift " << shift;
  }
}

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
