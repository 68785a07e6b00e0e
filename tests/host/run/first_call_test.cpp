// The first call of the agent comes from inside a signal handler.
#include <gtest/gtest.h>

#include "tests/host/run/run_files.hpp"

namespace {

using test_support::TempFolder;

class FirstCall : public testing::TestWithParam<const char*> {};

TEST_P(FirstCall, InAHandlerStartsNoThreadThere) {
  const TempFolder folder;
  test_support::Child child(
      with_agent(folder, FIRST_CALL_HOST, {GetParam()}, "formats=calls,counts hooks=*"));
  const auto ended = child.wait(60);
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  EXPECT_EQ(ended.out + ended.err, "");
  run_files::expect_whole(folder, child.pid());
  const auto rows = run_files::counts(folder);
  EXPECT_EQ(rows.at("handled").calls, 2u);
  EXPECT_EQ(rows.at("afterwards").calls, 1u);
}

INSTANTIATE_TEST_SUITE_P(Of, FirstCall, testing::Values("stack", "signal-stack", "nested"),
                         [](const auto& at) {
                           std::string name(at.param);
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
