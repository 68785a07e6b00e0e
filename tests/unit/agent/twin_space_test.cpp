#include "agent/lanes/twin_space.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <map>

namespace jitquill {
namespace {

constexpr std::uint64_t kReach = std::uint64_t{2} << 30;

// A stretch of code somewhere a JIT would have it.
std::uint64_t some_code() {
  static int variable;
  return reinterpret_cast<std::uint64_t>(&variable);
}

TEST(TwinSpace, TwinsLieBelowTheirCodeWithinReachAndApart) {
  TwinSpace space;
  std::map<std::uint64_t, std::uint64_t> taken;  // start -> end
  for (std::uint64_t i = 0; i < 5'000; ++i) {
    const std::uint64_t code = some_code() + i * 64, size = 100 + i % 7 * 300;
    const std::uint64_t twin = space.take(code, size);
    ASSERT_NE(twin, 0u);
    ASSERT_LE(twin + size, code);
    ASSERT_LT(code - twin, kReach);
    const auto next = taken.lower_bound(twin);
    ASSERT_TRUE(next == taken.end() || twin + size <= next->first);
    ASSERT_TRUE(next == taken.begin() || std::prev(next)->second <= twin);
    taken[twin] = twin + size;
  }
}

TEST(TwinSpace, GivenBackPlacesServeAgain) {
  TwinSpace space;
  const std::uint64_t first = space.take(some_code(), 500);
  ASSERT_NE(first, 0u);
  space.give_back(first, 500);
  EXPECT_EQ(space.take(some_code(), 510), first);  // the same slots
  EXPECT_NE(space.take(some_code(), 510), first);
}

TEST(TwinSpace, HasNoneWhereNothingIsBelow) {
  TwinSpace space;
  EXPECT_EQ(space.take(0x2000, 100), 0u);
}

// A heap, or what an engine keeps free around its memory, may be all that lies below the code.
TEST(TwinSpace, LooksForSpaceNowAndThenWhereAllIsTaken) {
  constexpr std::size_t kAll = std::size_t{4} << 30;
  void* const others = mmap(nullptr, kAll, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(others, MAP_FAILED);
  const std::uint64_t code = reinterpret_cast<std::uint64_t>(others) + kAll - 4096;
  TwinSpace space;
  EXPECT_EQ(space.take(code, 100), 0u);
  munmap(others, kAll);
  for (std::uint32_t i = 0; i < TwinSpace::kAsksBetween; ++i) ASSERT_EQ(space.take(code - i * 64, 100), 0u);
  EXPECT_NE(space.take(code, 100), 0u);
  EXPECT_EQ(space.take(0x2000, 100), 0u);
}

TEST(TwinSpace, LooksElsewhereMeanwhile) {
  TwinSpace space;
  EXPECT_EQ(space.take(0x2000, 100), 0u);
  EXPECT_NE(space.take(some_code(), 100), 0u);
}

}  // namespace
}  // namespace jitquill
