// What a runtime writes into its own perf map is in the dump, with its bytes.
#include <gtest/gtest.h>
#include <unistd.h>

#include <regex>
#include <set>

#include "tests/host/jitdump/agent_run.hpp"

namespace {

using jitdump_reader::Dump;
using jitdump_reader::Function;
using test_support::Ended;
using test_support::TempFolder;

constexpr std::size_t kFunctions = 200;

struct HostRun {
  TempFolder folder;
  Ended ended;

  explicit HostRun(const std::string& how, const std::string& options = "") {
    test_support::Command command = with_preload(folder, MAP_HOST, {how, DEEP_LIBRARY}, options);
    command.environment.emplace_back("ERL_SYM_MAP_FILE", folder.file("named.map"));
    test_support::Child child(command);
    ended = child.wait(60);
    unlink(map_of(child.pid()).c_str());
    std::smatch match;
    if (std::regex_search(ended.out, match, std::regex("child ([0-9]+)")))
      unlink(map_of(std::stoi(match[1])).c_str());
  }

  static std::string map_of(pid_t pid) { return "/tmp/perf-" + std::to_string(pid) + ".map"; }

  std::uint64_t statistic(const std::string& name) const {
    const auto files = test_support::files_below(folder.path(), "stats", "");
    std::smatch match;
    const std::string text = files.empty() ? "" : test_support::read_text(files.front());
    if (std::regex_search(text, match, std::regex("(^|\n)" + name + "\t([0-9]+)")))
      return std::stoull(match[2]);
    return 0;
  }
};

// Each function once, with the bytes of its number.
void expect_all(const Dump& dump) {
  std::set<std::uint32_t> numbers;
  for (const Function& function : dump.functions) {
    const std::uint32_t number = number_of(function);
    EXPECT_TRUE(numbers.insert(number).second) << number;
    ASSERT_GE(function.code.size(), 64u);
    for (std::size_t i = 0; i < 64; ++i) EXPECT_EQ(function.code[i], static_cast<std::uint8_t>(number));
  }
  EXPECT_EQ(numbers.size(), kFunctions);
}

class MapIntake : public testing::TestWithParam<const char*> {};

// Buffered and killed, written and left at once, not executable when written, with a name of Erlang's.
TEST_P(MapIntake, EveryLineIsAFunction) {
  const HostRun run(GetParam());
  EXPECT_FALSE(run.ended.timed_out);
  EXPECT_EQ(run.ended.out + run.ended.err, "");
  expect_all(only_dump(run.folder));
  EXPECT_EQ(run.statistic("perfmap_lines_broken"), 0u);
}

INSTANTIATE_TEST_SUITE_P(Ways, MapIntake, testing::Values("stream_and_kill", "at_once", "late", "named"));

TEST(MapIntake, JunkCostsACounter) {
  const HostRun run("junk");
  ASSERT_TRUE(run.ended.succeeded()) << run.ended.describe();
  expect_all(only_dump(run.folder));
  EXPECT_EQ(run.statistic("perfmap_lines_broken"), 11u + 1u);  // one is too long
}

TEST(MapIntake, WhatIsNoCodeOrInAFileIsNotTold) {
  const HostRun run("others");
  ASSERT_TRUE(run.ended.succeeded()) << run.ended.describe();
  EXPECT_TRUE(only_dump(run.folder).functions.empty());
  EXPECT_EQ(run.statistic("perfmap_lines_no_code"), 2u);
}

TEST(MapIntake, HasOneThreadThatTakesNoSignals) {
  const HostRun run("threads");
  ASSERT_TRUE(run.ended.succeeded()) << run.ended.describe();
  EXPECT_EQ(run.ended.out, "threads 1 0\n");
}

TEST(MapIntake, HasNoThreadForAReaderOrWhereNobodyWantsIt) {
  EXPECT_EQ(HostRun("reader").ended.out, "threads 0 0\n");
  EXPECT_EQ(HostRun("threads", "intakes=none").ended.out, "threads 0 0\n");
  EXPECT_EQ(HostRun("threads", "formats=none").ended.out, "threads 0 0\n");
}

TEST(MapIntake, FindsAMapThatWasOpenedUnseen) {
  const HostRun run("deep");
  ASSERT_TRUE(run.ended.succeeded()) << run.ended.describe();
  EXPECT_EQ(run.ended.out, "threads 1 0\n");
  expect_all(only_dump(run.folder));
}

TEST(MapIntake, ReadsNoMapOfOurs) {
  const HostRun run("ours", "formats=jitdump,perfmap");
  ASSERT_TRUE(run.ended.succeeded()) << run.ended.describe();
  EXPECT_EQ(run.ended.out, "threads 0 0\n");
  EXPECT_EQ(only_dump(run.folder).functions.size(), 1u);
}

TEST(MapIntake, AChildHasAMapOfItsOwn) {
  const HostRun run("fork");
  ASSERT_TRUE(run.ended.succeeded()) << run.ended.describe();
  const auto files = dump_files(run.folder);
  ASSERT_EQ(files.size(), 2u);
  // The first is known from the parent, and perf knows that a child has what its parent had.
  std::multiset<std::size_t> sizes;
  for (const auto& file : files) sizes.insert(judged(file).functions.size());
  EXPECT_EQ(sizes, (std::multiset<std::size_t>{1, kFunctions - 1}));
}

TEST(MapIntake, AHostThatClosesOurDescriptorsGoesOn) {
  const HostRun run("closes");
  ASSERT_TRUE(run.ended.succeeded()) << run.ended.describe();
  const auto files = dump_files(run.folder);
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(judged(files.front()).functions.size(), 1u);
}

}  // namespace
