// The drain has its thread where every thread's stack begins with much of the host's.
#include <gtest/gtest.h>

#include "tests/host/run/run_files.hpp"

namespace {

TEST(ManyThreadLocals, LeaveRoomForTheDrainsThread) {
  const test_support::TempFolder folder;
  test_support::Child child(with_agent(folder, TLS_HOST, {}, "formats=counts hooks=* verbose=1"));
  const auto ended = child.wait(60);
  EXPECT_TRUE(ended.succeeded()) << ended.describe();
  EXPECT_EQ(ended.err, "");  // nor that there is no thread
  EXPECT_EQ(run_files::counts(folder).at("f").calls, 1000u);
  run_files::expect_whole(folder, child.pid());
}

}  // namespace
