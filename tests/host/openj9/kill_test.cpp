// An OpenJ9 trace whose process is killed can be read as it is, and recovered it has all that `calls` has.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "tests/host/openj9/trace_files.hpp"
#include "tests/host/survival/kill_and_recover.hpp"

namespace {

using kill_record::kill_and_recover;
using openj9_reader::Rule;
using test_support::TempFolder;

// The last write may be torn: what is whole of it prints.
std::string expect_readable(const TempFolder& folder) {
  const auto files = trace_files::all(folder);
  for (const std::string& path : files) {
    const auto file = openj9_reader::read_file(path);
    for (const auto& violation : file.violations)
      EXPECT_TRUE(violation.rule == Rule::kFileSize || file.header.size == 0)
          << openj9_reader::describe({violation});
    const auto text = text_of(
        file, openj9_reader::read_dat_file(std::filesystem::path(files[0]).replace_extension(".dat")));
    EXPECT_EQ(describe(text.violations), "");
  }
  return files.empty() ? "" : files[0];
}

void expect_same_as_calls(const TempFolder& folder, const trace_files::Trace& trace) {
  std::map<std::string, std::uint64_t> entered;
  for (const auto& [name, calls] : trace_files::calls_by_name(trace)) {
    entered[name] = calls.entered;
    EXPECT_EQ(calls.entered, calls.left) << name;
  }
  EXPECT_EQ(entered, run_files::calls(folder).calls_by_name());
  trace_files::expect_nested(trace);
}

// check(folder) of each, recovered, until one fails.
template <class Check>
void for_each_kill(unsigned seed, unsigned rounds, const std::string& options, Check check) {
  std::mt19937 random(seed);
  for (; rounds > 0 && !testing::Test::HasFailure(); --rounds) {
    const std::uint64_t target = 1 + random() % 40'000;
    SCOPED_TRACE(std::to_string(target) + " entries");
    const TempFolder folder;
    kill_and_recover(folder, target, "formats=calls,openj9 hooks=* memory=4M " + options, expect_readable);
    check(folder);
  }
}

// Both formats' bytes are in one commit.
TEST(OpenJ9Survives, SigkillAtAnyMoment) {
  for_each_kill(2026, times(3, 200), "",
                [](const TempFolder& folder) { expect_same_as_calls(folder, trace_files::whole(folder)); });
}

TEST(OpenJ9Survives, SigkillWhereItGoesOnInOtherFiles) {
  for_each_kill(2028, times(1, 200), "max_bytes=256k", [](const TempFolder& folder) {
    const auto files = trace_files::all(folder);
    ASSERT_FALSE(files.empty());
    const std::string dat = std::filesystem::path(files[0]).replace_extension(".dat");
    for (const std::string& path : files) (void)trace_files::whole_file(path, dat);
    std::ofstream(folder.file("joined"), std::ios::binary) << trace_files::joined(files);
    expect_same_as_calls(folder, trace_files::whole_file(folder.file("joined"), dat));
  });
}

// Of each thread what `calls` has last.
TEST(OpenJ9Survives, SigkillAtAnyMomentWithRings) {
  for_each_kill(2027, times(2, 100), "openj9.type=internal", [](const TempFolder& folder) {
    const auto trace = trace_files::whole(folder);
    std::map<std::uint64_t, std::uint64_t> last;
    for (const auto& entry : trace.file.entries) last[entry.thread & 0xFFFFFFFF] = entry.ticks;
    for (const auto& [name, thread] : run_files::calls(folder).threads) {
      if (thread.calls.empty()) continue;
      std::uint64_t newest = 0;
      for (const auto& call : thread.calls) newest = std::max(newest, call.end_ns);
      const std::uint64_t tid = std::stoull(name.substr(name.rfind('-') + 1));
      EXPECT_GE(last[tid], newest) << name;
    }
  });
}

}  // namespace
