// What real processes leave in their OpenJ9 traces.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/host/openj9/trace_files.hpp"

namespace {

using test_support::TempFolder;
using Names = std::vector<std::string>;

void run_host(const TempFolder& folder, const std::string& host, const Names& arguments,
              const std::string& options) {
  test_support::Child child(with_agent(folder, host, arguments, options));
  const auto ended = child.wait(60);
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  run_files::expect_no_lanes(child.pid());
  EXPECT_EQ(run_files::stats(folder).at("write_errors"), 0u);
}

void expect_same_as_calls(const TempFolder& folder, const trace_files::Trace& trace) {
  std::map<std::string, std::uint64_t> entered;
  for (const auto& [name, calls] : trace_files::calls_by_name(trace)) {
    entered[name] = calls.entered;
    EXPECT_EQ(calls.entered, calls.left) << name;
  }
  EXPECT_EQ(entered, run_files::calls(folder).calls_by_name());
}

TEST(OpenJ9, HasAllThatARuntimeTold) {
  const TempFolder folder;
  run_host(folder, RUNTIME_HOST, {"1"}, "formats=openj9,calls hooks=*");
  const auto trace = trace_files::whole(folder);
  expect_same_as_calls(folder, trace);
  std::size_t events = 0;
  for (const auto& [name, thread] : run_files::calls(folder).threads) events += thread.events.size();
  std::size_t told = 0;
  for (const auto& entry : trace.file.entries) told += entry.component == "jq" && entry.number >= 9;
  EXPECT_EQ(told, events);
  EXPECT_EQ(trace.said("runtime: "), Names{"model runtime 1.0"});
  EXPECT_EQ(trace.file.header.startup, (Names{RUNTIME_HOST, "1"}));
  EXPECT_GE(trace.file.header.processors, 1u);
}

TEST(OpenJ9, HasOnlyWhatWasChosen) {
  const TempFolder folder;
  run_host(folder, RUNTIME_HOST, {"1"}, "formats=openj9,calls hooks=* openj9.select=jqm:5");
  const auto trace = trace_files::whole(folder);
  expect_same_as_calls(folder, trace);
  for (const auto& entry : trace.file.entries) EXPECT_NE(entry.component, "jq");
  const Names& active = trace.file.header.active;
  ASSERT_GE(active.size(), 3u);
  EXPECT_EQ(Names(active.begin(), active.begin() + 3), (Names{"openj9.type=external", "jq=off", "jqm=5"}));
  for (const char* const word : {"hooks=*", "formats=openj9,calls", "openj9.select=jqm:5"})
    EXPECT_EQ(std::ranges::count(active, word), 1) << word;
}

TEST(OpenJ9, HasAStreamForEachThread) {
  const TempFolder folder;
  run_host(folder, THREADS_HOST, {"short", "16"}, "formats=openj9,calls hooks=*");
  const auto trace = trace_files::whole(folder);
  expect_same_as_calls(folder, trace);
  trace_files::expect_nested(trace);
}

// Each alone, and all as one trace.
TEST(OpenJ9, GoesOnInAnotherFileWhereOneIsFull) {
  constexpr std::size_t kLimit = 128 * 1024;
  const TempFolder folder;
  run_host(folder, THREADS_HOST, {"short", "100"}, "formats=openj9,calls hooks=* max_bytes=128k");
  const auto files = trace_files::all(folder);
  ASSERT_GT(files.size(), 3u);
  const std::string dat = std::filesystem::path(files[0]).replace_extension(".dat");
  for (const std::string& path : files) {
    EXPECT_LE(std::filesystem::file_size(path), kLimit) << path;
    const auto trace = trace_files::whole_file(path, dat);
    EXPECT_EQ(trace.said(" UTC, process ").size(), 1u);
    EXPECT_FALSE(trace.file.header.startup.empty());
  }
  const std::string one = folder.file("joined");
  std::ofstream(one, std::ios::binary) << trace_files::joined(files);
  const auto trace = trace_files::whole_file(one, dat);
  expect_same_as_calls(folder, trace);
  trace_files::expect_nested(trace);
}

TEST(OpenJ9, KeepsAsManyFilesAsAreWanted) {
  const TempFolder folder;
  run_host(folder, THREADS_HOST, {"short", "100"}, "formats=openj9 hooks=* max_bytes=128k generations=2");
  const auto files = trace_files::all(folder);
  ASSERT_EQ(files.size(), 2u);
  const auto dats = test_support::files_below(folder.path(), "", ".dat");
  ASSERT_EQ(dats.size(), 1u);
  for (const std::string& path : files) (void)trace_files::whole_file(path, dats[0]);
}

#ifdef DEMO_JIT
Names nib(const char* program, Names switches = {}) {
  switches.push_back(std::string(PROGRAMS) + "/" + program + ".nib");
  return switches;
}

// Threads, collections, and code that comes and goes.
TEST(OpenJ9, OfNibHasItsCallsThreadsAndCollections) {
  const TempFolder folder;
  run_host(folder, DEMO_JIT, nib("producers", {"--gc-stress"}), "formats=openj9,calls,jitdump hooks=*");
  const auto trace = trace_files::whole(folder);
  expect_same_as_calls(folder, trace);
  trace_files::expect_nested(trace);
  std::size_t collections = 0;
  for (const auto& [name, thread] : run_files::calls(folder).threads) {
    for (const auto& event : thread.events) collections += event.words == "all stopped for collection";
  }
  EXPECT_GT(collections, 50u);
  EXPECT_EQ(trace.said("all stopped for collection").size(), collections);
  EXPECT_EQ(trace.said("code loaded at ").size(), only_dump(folder).functions.size());
}

#endif

#ifdef NIB_HOST
// Exceptions of the host, thrown through nib's frames on two threads.
TEST(OpenJ9, OfNibHasWhatExceptionsLeft) {
  constexpr std::size_t kDeep = 20, kRounds = 4, kThreads = 2;
  const TempFolder folder;
  run_host(folder, NIB_HOST,
           {"throw", std::to_string(kDeep), std::to_string(kRounds), std::to_string(kThreads), "second"},
           "formats=openj9,calls hooks=*");
  const auto trace = trace_files::whole(folder);
  expect_same_as_calls(folder, trace);
  trace_files::expect_nested(trace);
  EXPECT_GE(trace.said("*<down, unwound").size(), kThreads * (kRounds - 1) * (kDeep + 1));
  EXPECT_GE(trace.said("*<main, unwound").size(), kThreads * (kRounds - 1));
}
#endif

// The newest of each thread.
TEST(OpenJ9, OfTypeInternalHasTheNewest) {
  const TempFolder folder;
  run_host(folder, THREADS_HOST, {"short", "16"}, "formats=openj9,calls hooks=* openj9.type=internal");
  const auto trace = trace_files::whole(folder);
  EXPECT_TRUE(trace.file.header.is_internal);
  std::size_t threads = 0;
  for (const auto& [name, thread] : run_files::calls(folder).threads) threads += !thread.calls.empty();
  std::size_t rings = 0;
  for (const auto& record : trace.file.records) rings += record.thread != 0 && record.entries != 0;
  EXPECT_GE(rings, threads);
}

TEST(OpenJ9, IsPrintedByTheRealFormatter) {
  if (std::getenv("JITQUILL_OPENJ9_FORMATTER") == nullptr)
    GTEST_SKIP() << "JITQUILL_OPENJ9_FORMATTER is not set: the command of OpenJ9's formatter";
  const TempFolder folder;
  run_host(folder, THREADS_HOST, {"short", "8"}, "formats=openj9 hooks=*");
  (void)trace_files::whole(folder);  // compares
}

}  // namespace
