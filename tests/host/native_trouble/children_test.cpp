// Children of a program that has traced native functions and nothing else: what they call is in folders of
// their own, from their first call on.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "tests/host/run/run_files.hpp"

namespace {

using test_support::TempFolder;

const std::string kHost = std::string(TROUBLE_HOSTS) + "/children";

// Of each process that left a folder, sorted: "function:calls ...".
std::vector<std::string> run_children(const TempFolder& folder, const std::string& which,
                                      const std::string& options = "") {
  auto command =
      with_preload(folder, kHost, {which}, "formats=counts,calls hooks=call_*,!call_*fork* " + options);
  test_support::Child child(command);
  const auto ended = child.wait(60);
  EXPECT_TRUE(ended.succeeded()) << ended.describe();
  EXPECT_EQ(ended.out + ended.err, "");
  run_files::expect_no_memory(child.pid());
  std::vector<std::string> all;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path() + "/out")) {
    if (entry.is_symlink()) continue;
    const std::string text = test_support::read_text(entry.path().string() + "/counts");
    std::string words;
    for (const std::string name : {"call_in_child", "call_twice", "call_leaf"}) {
      const std::size_t end = text.find("\t" + name + "\t");
      const std::size_t start = text.rfind('\n', end) + 1;
      if (end != text.npos) words += name + ":" + text.substr(start, text.find('\t', start) - start) + " ";
    }
    all.push_back(words);
  }
  std::ranges::sort(all);
  return all;
}

std::string counts_of(int times) {
  return "call_in_child:1 call_twice:" + std::to_string(times) + " call_leaf:" + std::to_string(2 * times) +
         " ";
}

class NativeChildren : public testing::TestWithParam<const char*> {};

class NativeForks : public NativeChildren {};
INSTANTIATE_TEST_SUITE_P(Kinds, NativeForks, testing::Values("fork", "thread"),
                         [](const auto& kind) { return std::string(kind.param); });

TEST_P(NativeForks, HaveFoldersOfTheirOwn) {
  const TempFolder folder;
  EXPECT_EQ(run_children(folder, GetParam()), (std::vector{counts_of(2), counts_of(5)}));
}

TEST_P(NativeForks, LeaveNothingIfChildrenAreOff) {
  const TempFolder folder;
  EXPECT_EQ(run_children(folder, GetParam(), "children=off"), (std::vector{counts_of(2)}));
}

class NativePrograms : public NativeChildren {};
INSTANTIATE_TEST_SUITE_P(Kinds, NativePrograms, testing::Values("spawn", "system", "exec"),
                         [](const auto& kind) { return std::string(kind.param); });

TEST_P(NativePrograms, ThatAreStartedAreTracedAsAny) {
  const TempFolder folder;
  EXPECT_EQ(run_children(folder, GetParam()), (std::vector{counts_of(2), counts_of(3)}));
}

// It runs in its parent's memory until the exec.
TEST(NativeVfork, IsItsParentsUntilItIsAnotherProgram) {
  const TempFolder folder;
  EXPECT_EQ(run_children(folder, "vfork"),
            (std::vector<std::string>{counts_of(3), "call_in_child:2 call_twice:3 call_leaf:6 "}));
}

// Nobody waits for it: where its output is once its statistics are, which come last; beside its first
// parent's.
std::string daemons_output(const TempFolder& folder, pid_t parent) {
  constexpr int kMostTenths = 300;
  for (int i = 0; i < kMostTenths; ++i, usleep(100'000)) {
    for (const auto& entry : std::filesystem::directory_iterator(folder.path() + "/out")) {
      const bool is_its =
          !entry.is_symlink() && !entry.path().string().ends_with("-" + std::to_string(parent));
      if (is_its && !test_support::read_text(entry.path().string() + "/stats").empty()) return entry.path();
    }
  }
  return "";
}

// What it opens under our numbers is its own, and its calls are traced as before.
TEST(NativeDaemon, ThatClosesAllKeepsItsFilesAndWeOurs) {
  const TempFolder folder;
  test_support::Child child(with_preload(folder, kHost, {"daemon"}, "formats=counts,calls hooks=call_*"));
  const auto ended = child.wait(60);
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  const std::string output = daemons_output(folder, child.pid());
  ASSERT_NE(output, "") << "it has not ended well";
  EXPECT_TRUE(std::filesystem::exists(folder.file("daemon-is-done"))) << "its results were wrong";
  EXPECT_EQ(std::filesystem::file_size(folder.file("own")), 0u);
  const auto counts = run_files::counts_in(output);
  EXPECT_EQ(counts.at("call_in_child").calls, 2u);
  EXPECT_EQ(counts.at("call_leaf").calls, 10u);
  EXPECT_EQ(run_files::calls_in(output).calls_by_name().at("call_leaf"), 10u);
  const auto stats = run_files::stats_in(output);
  EXPECT_EQ(stats.at("outputs_opened_again"), 2u);
  EXPECT_EQ(stats.at("outputs_switched_off"), 0u);
  EXPECT_EQ(stats.at("write_errors"), 0u);
}

}  // namespace
