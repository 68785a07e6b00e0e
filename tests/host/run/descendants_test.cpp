// What a child has of its parent's outputs: nothing.
#include <gtest/gtest.h>

#include <sstream>

#include "tests/host/run/run_files.hpp"

namespace {

TEST(Descendants, HaveNoDescriptorsOfTheirParents) {
  const test_support::TempFolder folder;
  test_support::Child child(with_agent(folder, DESCENDANTS_HOST, {}, "formats=calls,counts hooks=*"));
  const auto ended = child.wait(60);
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  std::istringstream in(ended.out);
  int first = 0, second = 0, third = 0;
  ASSERT_TRUE(in >> first >> second >> third) << ended.out;
  EXPECT_EQ(second, first);
  EXPECT_EQ(third, first);
}

}  // namespace
