#include "agent/intake/budget.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

namespace {

using jitquill::intake::Budget;

std::size_t pieces_of(Budget& budget, std::size_t most) {
  std::size_t pieces = 0;
  while (pieces < most && budget.allows_one_more()) ++pieces;
  return pieces;
}

TEST(IntakeBudget, HasItsShareWhenTheTimeIsOver) {
  Budget none(0, 50);
  EXPECT_EQ(pieces_of(none, 1000), 50u);
  EXPECT_EQ(pieces_of(none, 1000), 0u);

  Budget stopped(1'000'000);
  EXPECT_EQ(pieces_of(stopped, 2), 2u);
  usleep(2000);
  EXPECT_EQ(pieces_of(stopped, 1000), 8u);
}

TEST(IntakeBudget, GoesOnWhileThereIsTime) {
  Budget hour(3'600'000'000'000, 1);
  EXPECT_EQ(pieces_of(hour, 1000), 1000u);
}

}  // namespace
