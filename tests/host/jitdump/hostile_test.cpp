// The process around the agent does what it may do, and what it should not: neither the host nor the dump
// may come to harm.
#include <gtest/gtest.h>

#include "tests/host/jitdump/agent_run.hpp"

namespace {

using test_support::Ended;
using test_support::TempFolder;

class JitdumpDescriptors : public testing::TestWithParam<const char*> {};

TEST_P(JitdumpDescriptors, ThatBecameTheHostsAreLeftAlone) {
  TempFolder folder;
  const Ended ended = run(with_agent(folder, DESCRIPTOR_HOST, {GetParam()}));
  EXPECT_TRUE(ended.succeeded()) << ended.describe();
  for (const std::string& file : dump_files(folder)) (void)judged(file);
}

INSTANTIATE_TEST_SUITE_P(Then, JitdumpDescriptors, testing::Values("announce", "stop", "fork"),
                         [](const auto& then) { return std::string(then.param); });

}  // namespace
