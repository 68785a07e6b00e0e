// Call stacks at the entries of native functions are their true callers, however they were compiled, and
// whatever became of their return addresses.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "tests/host/run/run_files.hpp"

namespace {

using test_support::TempFolder;

// As the host's book has it: "whole", or "partial", and who had called, the innermost first.
struct Told {
  bool is_whole = true;
  std::vector<std::string> callers;
};

std::vector<Told> told_by_host(const std::string& text) {
  std::vector<Told> all;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    Told told{word == "whole", {}};
    while (words >> word) told.callers.push_back(word);
    all.push_back(told);
  }
  return all;
}

// Of those that the host has in its book: libc's own are left out.
std::vector<std::string> of_host(const std::vector<std::string>& callers) {
  static const std::vector<std::string> kNames = {
      "with_large_frame", "recursive", "compares", "sorts",    "thrower", "catcher",         "on_signal",
      "raises",           "in_thread", "in_fiber", "switches", "main",    "raises_elsewhere"};
  std::vector<std::string> kept;
  for (const std::string& caller : callers) {
    const std::string name = caller.substr(0, caller.find('.'));  // gcc's parts of a function: catcher.cold
    if (std::ranges::count(kNames, name) != 0) kept.push_back(name);
  }
  return kept;
}

std::string words(const std::vector<std::string>& all) {
  std::string text;
  for (const std::string& word : all) text += word + " ";
  return text;
}

class NativeStacks : public testing::TestWithParam<std::string> {};

std::vector<std::string> hosts() {
  std::vector<std::string> all;
  for (const auto& entry : std::filesystem::directory_iterator(NATIVE_HOSTS)) {
    const std::string name = entry.path().filename();
    if (name.starts_with("stacks_") && name.find('.') == name.npos) all.push_back(name.substr(7));
  }
  return all;
}
INSTANTIATE_TEST_SUITE_P(Ways, NativeStacks, testing::ValuesIn(hosts()),
                         [](const auto& way) { return way.param; });

void expect_truth(const std::vector<Told>& host, const std::vector<calls_reader::Call>& calls) {
  std::size_t at = 0;
  for (const auto& call : calls) {
    if (call.name != "walked") continue;
    ASSERT_LT(at, host.size());
    const Told& told = host[at++];
    std::vector<std::string> expected = told.callers;
    const auto found = of_host(call.callers);
    if (!told.is_whole && found.size() < expected.size()) {
      EXPECT_FALSE(found.empty());
      expected.resize(found.size());
    }
    EXPECT_EQ(words(found), words(expected)) << "call " << at;
    EXPECT_EQ(call.is_stack_partial, !told.is_whole) << "call " << at << ": " << words(call.callers);
  }
  EXPECT_EQ(at, host.size());
}

TEST_P(NativeStacks, AreTheTrueCallers) {
  const TempFolder folder;
  test_support::Child child(with_preload(folder, std::string(NATIVE_HOSTS) + "/stacks_" + GetParam(), {},
                                         "formats=calls,counts hooks=* stack=walk*"));
  const auto ended = child.wait(60);
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  run_files::expect_whole(folder, child.pid());
  const auto stats = run_files::stats(folder);
  EXPECT_EQ(stats.at("run_functions_nameless"), 0u) << "callers in libc are no loss";
  std::vector<calls_reader::Call> calls;
  for (const auto& [name, thread] : run_files::calls(folder).threads)
    calls.insert(calls.end(), thread.calls.begin(), thread.calls.end());
  std::ranges::stable_sort(calls, {}, &calls_reader::Call::start_ns);
  const auto host = told_by_host(ended.out);
  ASSERT_GT(host.size(), 8u);
  expect_truth(host, calls);
  EXPECT_EQ(stats.at("run_stacks"), host.size());
  EXPECT_EQ(stats.at("run_stacks_partial"),
            static_cast<std::uint64_t>(std::ranges::count(host, false, &Told::is_whole)));
  for (const auto& call : calls) {
    EXPECT_TRUE(call.name == "walked" || call.callers.empty()) << call.name;
  }
  EXPECT_FALSE(run_files::counts(folder).contains("__libc_start_main")) << "which was never traced";
}

// The drain has not seen the library when it is called first.
TEST(NativeStacksOf, ALibraryThatIsOpenedLateAreThereFromItsFirstCallOn) {
  const std::string hosts = NATIVE_HOSTS;
  if (access((hosts + "/late_library").c_str(), R_OK) != 0) GTEST_SKIP() << "no gcc";
  const TempFolder folder;
  const auto ended = run(with_preload(folder, hosts + "/late_gcc_fentry_O2", {hosts + "/late_library"},
                                      "formats=calls hooks=* stack=late_inner"));
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  std::size_t found = 0;
  for (const auto& [name, thread] : run_files::calls(folder).threads) {
    for (const auto& call : thread.calls) {
      if (call.name != "late_inner") {
        EXPECT_TRUE(call.callers.empty()) << call.name;
        continue;
      }
      ASSERT_GE(call.callers.size(), 2u) << "call " << found;
      EXPECT_EQ(call.callers[0] + " " + call.callers[1], "late_entry main");
      EXPECT_FALSE(call.is_stack_partial);
      ++found;
    }
  }
  EXPECT_EQ(found, 2u);
}

TEST(NativeStacksNot, AreTakenOfFunctionsThatHooksDoesNotName) {
  const std::string host = std::string(NATIVE_HOSTS) + "/stacks_gcc_fentry_O2";
  if (access(host.c_str(), X_OK) != 0) GTEST_SKIP() << "no gcc";
  const TempFolder folder;
  const auto ended = run(with_preload(folder, host, {}, "formats=calls hooks=*,!walked stack=*walked,main"));
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  std::size_t stacks = 0;
  for (const auto& [name, thread] : run_files::calls(folder).threads) {
    for (const auto& call : thread.calls) {
      EXPECT_TRUE(call.name == "main" || call.callers.empty()) << call.name;
      stacks += !call.callers.empty();
    }
  }
  EXPECT_EQ(stacks, 1u);
}

}  // namespace
