// perf knows by the time what code it is that comes and goes: unloaded, moved, and replaced by other code at
// its address, all the time.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>

#include "tests/host/jitdump/agent_run.hpp"
#include "tests/tools/perf/perf_run.hpp"

namespace {

using perf_run::Sample;
using test_support::TempFolder;

// What the dump has there at that time; null: nothing.
const jitdump_reader::Function* at(const jitdump_reader::Dump& dump, const Sample& sample) {
  const jitdump_reader::Function* found = nullptr;
  for (const auto& function : dump.functions) {
    if (function.when > sample.when_ns) break;
    if (sample.ip >= function.address && sample.ip < function.address + function.code.size())
      found = &function;
  }
  return found;
}

bool is_long() {
  return std::getenv("JITQUILL_LONG") != nullptr;
}

// Functions, rounds, turns of each one's loop.
std::string churning_program(const TempFolder& folder) {
  const std::vector<std::string> size = is_long() ? std::vector<std::string>{"20000", "2", "3000"}
                                                  : std::vector<std::string>{"60", "3", "1000000"};
  const test_support::Ended written =
      test_support::run({.words = {"sh", CHURN, size[0], size[1], size[2]}, .environment = {}, .folder = {}});
  std::string path = folder.file("churn.nib");
  std::ofstream(path) << written.out;
  return path;
}

// Of the samples in jitted code: the compiler's own stacks may be deeper than what perf copies.
std::vector<Sample> with_right_names(const jitdump_reader::Dump& dump, const std::vector<Sample>& samples) {
  std::vector<Sample> found;
  for (const Sample& sample : samples) {
    const auto* const function = at(dump, sample);
    if (function == nullptr) continue;
    EXPECT_EQ(sample.frames.at(0).symbol, function->name) << std::hex << sample.ip;
    found.push_back(sample);
  }
  return found;
}

std::string stack_of(const Sample& sample) {
  std::string stack;
  for (const auto& frame : sample.frames) stack += frame.symbol + " < ";
  return stack;
}

// perf inject makes a file of each load: some hundred, or some ten thousand in the long run.
TEST(PerfChurn, NamesAreRightByTime) {
  const TempFolder folder;
  if (const std::string reason = perf_run::why_not(folder); !reason.empty()) GTEST_SKIP() << reason;
  perf_run::Request request;
  request.host = {DEMO_JIT, "--time", is_long() ? "--code-limit=1M" : "--code-limit=8k",
                  churning_program(folder)};
  request.frequency = "4000";
  auto recording = perf_run::record(folder, request);
  ASSERT_EQ(recording.error, "");
  const auto samples = recording.between(recording.stamps["jitted"]);
  const auto dump = only_dump(folder);
  const auto found = with_right_names(dump, samples);
  EXPECT_GT(found.size(), is_long() ? 50u : samples.size() / 2);
  const auto is_whole = [](const Sample& sample) { return sample.reaches("main"); };
  EXPECT_GE(std::count_if(found.begin(), found.end(), is_whole) * 100, std::ssize(found) * 99);
  for (const Sample& sample : found) {
    if (!is_whole(sample)) std::printf("broken: %s\n", stack_of(sample).c_str());
  }
  std::map<std::uint64_t, std::set<std::string>> names;      // at an address
  std::map<std::string, std::set<std::uint64_t>> addresses;  // of a name
  for (const auto& function : dump.functions) {
    names[function.address].insert(function.name);
    addresses[function.name].insert(function.address);
  }
  const auto has_many = [](const auto& each) { return each.second.size() > 1; };
  EXPECT_GT(std::count_if(names.begin(), names.end(), has_many), 10);
  EXPECT_GT(std::count_if(addresses.begin(), addresses.end(), has_many), 10);
  std::printf("%zu loads, %zu of %zu samples in them\n", dump.functions.size(), found.size(), samples.size());
}

}  // namespace
