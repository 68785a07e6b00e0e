// alloca() in functions that are compiled with -finstrument-functions.
#include <gtest/gtest.h>

#include "tests/host/run/run_files.hpp"

namespace {

TEST(GrowingFrames, EndWhereTheyReturn) {
  const test_support::TempFolder folder;
  const std::string host = std::string(TROUBLE_HOSTS) + "/growing_frames";
  const auto ended = run(with_preload(folder, host, {}, "formats=calls,counts hooks=*"));
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  EXPECT_EQ(run_files::stats(folder).at("run_ends_unpaired"), 0u);
  EXPECT_EQ(run_files::counts(folder).at("call_growing").calls, 100u);
  for (const auto& [name, thread] : run_files::calls(folder).threads) {
    for (const auto& call : thread.calls) {
      EXPECT_EQ(call.how, "") << call.name;
      EXPECT_EQ(call.depth, call.name == "call_growing" ? 0u : 1u);
    }
  }
}

}  // namespace
