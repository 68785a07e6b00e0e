// What our sampler says of a program whose shares are known, beside what perf says of the same run.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "tests/host/jitdump/agent_run.hpp"
#include "tests/host/sampling/sampled.hpp"
#include "tests/tools/perf/perf_run.hpp"

namespace {

using perf_run::Recording;
using perf_run::Request;
using perf_run::Sample;

// A busy machine gives a short run its time unevenly.
const double kPoints = times(6, 3);
constexpr const char* kFunctions[] = {"seventy", "twenty", "ten"};

double percent(double part, double all) {
  return all == 0 ? 0 : 100 * part / all;
}

// Of those in the three functions, innermost.
double share_by_perf(const Recording& recording, const std::string& function) {
  double part = 0, all = 0;
  for (const Sample& sample : recording.samples) {
    const std::string& symbol = sample.frames.empty() ? std::string() : sample.frames[0].symbol;
    part += symbol == function ? 1 : 0;
    all += std::ranges::find(kFunctions, symbol) != std::end(kFunctions) ? 1 : 0;
  }
  return percent(part, all);
}

double reaching_main_by_perf(const Recording& recording) {
  double part = 0, all = 0;
  for (const Sample& sample : recording.samples) {
    const bool is_one = !sample.frames.empty() &&
                        std::ranges::find(kFunctions, sample.frames[0].symbol) != std::end(kFunctions);
    all += is_one ? 1 : 0;
    part += is_one && sample.reaches("main") ? 1 : 0;
  }
  return percent(part, all);
}

sampled::File read_of_program(const test_support::TempFolder& folder) {
  for (const auto& entry : std::filesystem::directory_iterator(folder.file("out"))) {
    if (entry.path().filename().string().starts_with("demo-jit-")) return sampled::read_in(entry.path());
  }
  ADD_FAILURE() << "no output of the program";
  return {};
}

TEST(Sampled, SharesAndStacksAreThoseThatPerfHas) {
  const test_support::TempFolder folder;
  if (const std::string reason = perf_run::why_not(folder); !reason.empty()) GTEST_SKIP() << reason;
  Request request;
  request.host = {DEMO_JIT, SHARES_NIB};
  request.agent_options = "formats=jitdump,samples sample=4999";
  request.frequency = "1999";
  const Recording recording = perf_run::record(folder, request);
  ASSERT_EQ(recording.error, "");
  const sampled::File ours = read_of_program(folder);
  double all = 0;
  for (const char* const function : kFunctions) all += ours.share(function);
  for (const char* const function : kFunctions)
    EXPECT_NEAR(percent(ours.share(function), all), share_by_perf(recording, function), kPoints) << function;
  EXPECT_GE(ours.reaching("main"), 99);
  EXPECT_GE(reaching_main_by_perf(recording), 99);
}

}  // namespace
