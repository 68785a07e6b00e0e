#include "agent/intake/jvmti/scratch.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace jitquill::intake::jvmti {
namespace {

// Takes `count` pieces of `size` bytes, finds them zeroed, and leaves other bytes in them.
void use(Scratch& scratch, std::size_t count, std::size_t size) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto piece = scratch.take_array<unsigned char>(size);
    ASSERT_EQ(piece.size(), size);
    ASSERT_EQ(std::ranges::count(piece, 0), static_cast<long>(size)) << i;
    std::ranges::fill(piece, 0xFF);
  }
}

TEST(Scratch, MemoryOfAnEarlierOneIsZeroedAgain) {
  for (int round = 0; round < 4; ++round) {
    Scratch scratch;
    use(scratch, 3, 50'000);
    Scratch beside;
    use(beside, 5, 70'000);
    use(scratch, 1, 300'000);
    use(scratch, 100, 7);
  }
}

TEST(Scratch, ItsFirstPieceComesFromWhereTheLastOnesDid) {
  const auto first_piece = [] { return Scratch().take(16); };
  const void* const first = first_piece();
  EXPECT_EQ(first_piece(), first);
}

}  // namespace
}  // namespace jitquill::intake::jvmti
