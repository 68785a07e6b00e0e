// A return address that is not what was kept of it: the host goes on, tracing does not.
#include <gtest/gtest.h>

#include "tests/host/run/run_files.hpp"

namespace {

using test_support::TempFolder;

TEST(BrokenMirror, EndsTracingAndNotTheHost) {
  for (const std::string policy : {"lossless", "flight"}) {
    const TempFolder folder;
    const std::string host = std::string(TROUBLE_HOSTS) + "/broken_mirror";
    test_support::Child child(
        with_preload(folder, host, {}, "formats=calls,counts hooks=call_* policy=" + policy));
    const auto ended = child.wait(60);
    ASSERT_TRUE(ended.succeeded()) << ended.describe();
    EXPECT_EQ(ended.out + ended.err, "");
    run_files::expect_no_lanes(child.pid());
    EXPECT_EQ(run_files::stats(folder).at("native_returns_broken"), 1u);
    const std::string log = test_support::read_text(run_files::only(folder, "log"));
    EXPECT_NE(log.find("not traced any more"), std::string::npos) << log;
    EXPECT_EQ(log.find("not traced any more"), log.rfind("not traced any more")) << "said twice";
    // What was open then is whole.
    EXPECT_EQ(run_files::counts(folder).at("call_deep").calls, 202u);
    EXPECT_EQ(run_files::counts(folder).at("call_breaker").calls, 2u);
    for (const auto& [name, thread] : run_files::calls(folder).threads) {
      for (const auto& call : thread.calls) EXPECT_EQ(call.how, "") << call.name;
    }
  }
}

}  // namespace
