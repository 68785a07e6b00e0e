// The host's own files, where descriptors of ours were.
#include <gtest/gtest.h>

#include "tests/host/run/run_files.hpp"

namespace {

TEST(ClosedDescriptors, AreTheHostsFromThenOn) {
  const test_support::TempFolder folder;
  test_support::Child child(
      with_agent(folder, DAEMON_HOST, {folder.file("own")}, "formats=calls,counts hooks=*"));
  const auto ended = child.wait(60);
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  EXPECT_EQ(ended.out, "0 descriptors are others, 0 bytes were written\n");
}

}  // namespace
