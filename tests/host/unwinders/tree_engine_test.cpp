// What libgcc 13 and newer is told: one section for each function, never a range that another one has, and
// each given back as it was registered.
#include "tests/host/unwinders/tree_engine.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "tests/host/unwinders/chain_code.hpp"

namespace jitquill::test {
namespace {

constexpr std::size_t kPlaces = 12'000;

std::string all_complaints() {
  std::string all;
  for (const std::string& each : complaints()) all += each + "; ";
  return all;
}

bool is_found(CodeArena& arena, std::size_t place) {
  void* bases[4];
  const void* const fde = _Unwind_Find_FDE(arena.at(place * 64 + 10), bases);
  if (fde == nullptr) return false;
  std::uint64_t begin;
  std::memcpy(&begin, static_cast<const char*>(fde) + 8, sizeof begin);
  return begin == reinterpret_cast<std::uint64_t>(arena.at(place * 64));
}

TEST(TreeEngine, IsToldOfFunctionsOneByOne) {
  CodeArena arena(4096);
  place(arena, 0, 16);
  place(arena, 64, 32);
  EXPECT_EQ(registered_count(), 2u);
  EXPECT_TRUE(is_found(arena, 0) && is_found(arena, 1));
  jitquill_code_unloaded(arena.at(0));
  EXPECT_EQ(registered_count(), 1u);
  EXPECT_FALSE(is_found(arena, 0));
  EXPECT_TRUE(is_found(arena, 1));
  jitquill_code_unloaded(arena.at(64));
  EXPECT_EQ(registered_count(), 0u);
  EXPECT_EQ(all_complaints(), "");
}

// Splits of our sections included, which this engine must not notice.
TEST(TreeEngine, ChurnLeavesWhatLivesAndNothingElse) {
  CodeArena arena(kPlaces * 64);
  std::vector<bool> is_live(kPlaces, false);
  std::mt19937 random(5);
  for (int round = 0; round < 60'000; ++round) {
    const std::size_t where = random() % kPlaces;
    if (is_live[where] && random() % 3 == 0) {
      jitquill_code_unloaded(arena.at(where * 64));
      is_live[where] = false;
    } else {
      place(arena, where * 64, static_cast<std::uint32_t>(16 * (random() % 60 + 1)));
      is_live[where] = true;
    }
  }
  std::size_t live = 0;
  for (std::size_t where = 0; where < kPlaces; ++where) {
    ASSERT_EQ(is_found(arena, where), is_live[where]) << where;
    live += is_live[where] ? 1 : 0;
  }
  EXPECT_GT(live, kPlaces / 2);
  EXPECT_EQ(registered_count(), live);
  for (std::size_t where = 0; where < kPlaces; ++where) jitquill_code_unloaded(arena.at(where * 64));
  EXPECT_EQ(registered_count(), 0u);
  EXPECT_EQ(open_sections(), 0u);
  EXPECT_EQ(all_complaints(), "");
}

}  // namespace
}  // namespace jitquill::test
