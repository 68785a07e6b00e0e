// Where the CPU keeps shadow stacks no return address is taken: it would end the process. Nor where the user
// says so.
#include <gtest/gtest.h>

#include "tests/host/run/run_files.hpp"

namespace {

using test_support::TempFolder;

struct Traced {
  std::map<std::string, std::uint64_t> values;
  std::map<std::string, run_files::Count> counts;
};

Traced trace(const std::string& host, const std::vector<std::string>& arguments,
             const std::string& options = "") {
  const TempFolder folder;
  test_support::Child child(with_preload(folder, host, arguments, "formats=counts hooks=* " + options));
  const auto ended = child.wait(60);
  if (ended.exit_code == 77) return {};
  EXPECT_TRUE(ended.succeeded()) << ended.describe();
  EXPECT_EQ(ended.out + ended.err, "");
  run_files::expect_whole(folder, child.pid());
  return {run_files::stats(folder), run_files::counts(folder)};
}

std::string host_of(const std::string& way) {
  return std::string(NATIVE_HOSTS) + "/calls_gcc_" + way + "_O2";
}

void expect_left_alone(const Traced& traced, const std::string& way) {
  if (way == "fentry" || way == "pg") {
    EXPECT_EQ(traced.values.at("native_calls_without_mirror"), 30u);
    EXPECT_EQ(traced.values.at("run_records"), 0u);
  } else {
    EXPECT_EQ(traced.values.at("native_calls_without_mirror"), 0u);
    EXPECT_EQ(traced.values.at("run_ends_unpaired"), 0u);
    EXPECT_EQ(traced.counts.at("call_leaf").calls, 4u);
    EXPECT_EQ(traced.counts.at("call_thrower").calls, 9u);
  }
}

class ShadowStacks : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Ways, ShadowStacks, testing::Values("fentry", "pg", "return", "cyg"),
                         [](const auto& way) { return std::string(way.param); });

TEST_P(ShadowStacks, LeaveReturnAddressesAlone) {
  const Traced traced = trace(SHADOW_STACK_RUN, {host_of(GetParam())});
  if (traced.values.empty()) GTEST_SKIP() << "nobody may answer for the kernel here";
  expect_left_alone(traced, GetParam());
}

TEST_P(ShadowStacks, AreNotNeededToLeaveThemAlone) {
  expect_left_alone(trace(host_of(GetParam()), {}, "return_addresses=leave"), GetParam());
}

}  // namespace
