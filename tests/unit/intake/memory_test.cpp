#include "agent/intake/memory.hpp"

#include <gtest/gtest.h>

namespace {

using jitquill::intake::Block;
using jitquill::intake::Growing;

TEST(IntakeMemory, GrowsAndKeepsItsOrder) {
  Growing<int> row;
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(row.push(i));
  ASSERT_TRUE(row.insert(500, -1));
  EXPECT_EQ(row.size(), 1001u);
  EXPECT_EQ(row[499], 499);
  EXPECT_EQ(row[500], -1);
  EXPECT_EQ(row[501], 500);
  row.erase(500);
  row.keep_if([](int value) { return value % 2 == 0; });
  ASSERT_EQ(row.size(), 500u);
  for (int i = 0; i < 500; ++i) EXPECT_EQ(row[static_cast<std::size_t>(i)], 2 * i);
  row.release();
  EXPECT_EQ(row.size(), 0u);
}

TEST(IntakeMemory, MovesABlockAndGivesItAway) {
  Block block(100);
  ASSERT_TRUE(static_cast<bool>(block));
  block.data()[99] = 7;
  Block other(std::move(block));
  EXPECT_EQ(other.view().size(), 100u);
  EXPECT_EQ(other.view()[99], 7);
  std::uint8_t* const bytes = other.give_away();
  EXPECT_FALSE(static_cast<bool>(other));
  jitquill::intake::memory().free(bytes);
}

}  // namespace
