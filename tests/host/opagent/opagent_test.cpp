// What a program written for OProfile's agent library tells it is in the dump, with ours in its place.
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <set>

#include "tests/host/jitdump/agent_run.hpp"

namespace {

using jitdump_reader::Dump;
using jitdump_reader::Function;
using test_support::Ended;
using test_support::TempFolder;

constexpr int kGood = 3;

Ended run_host(const TempFolder& folder, const std::string& what, const std::string& options = "",
               const std::string& variable = "LD_LIBRARY_PATH") {
  const std::filesystem::path library(JITQUILL_OPAGENT);
  test_support::Command command;
  command.words = {OPAGENT_HOST, what};
  command.environment = {
      {variable, variable == "LD_PRELOAD" ? library.string() : library.parent_path().string()},
      {"JITQUILL_OPTIONS", "dir=" + folder.file("out") + " " + options}};
  command.folder = folder.path();
  Ended ended = run(command);
  EXPECT_EQ(ended.exit_code, kGood) << ended.describe();
  EXPECT_EQ(ended.out + ended.err, "");
  return ended;
}

std::uint64_t statistic(const TempFolder& folder, const std::string& name) {
  const auto files = test_support::files_below(folder.path(), "stats", "");
  std::smatch match;
  const std::string text = files.empty() ? "" : test_support::read_text(files.front());
  if (std::regex_search(text, match, std::regex("(^|\n)" + name + "\t([0-9]+)")))
    return std::stoull(match[2]);
  ADD_FAILURE() << "no statistic " << name;
  return 0;
}

class OpAgent : public testing::TestWithParam<const char*> {};

TEST_P(OpAgent, EveryCallDoesWhatItSays) {
  const TempFolder folder;
  run_host(folder, "all", "", GetParam());
  const Dump dump = only_dump(folder);
  std::vector<std::string> names;
  for (const Function& function : dump.functions) names.push_back(function.name);
  // Where lines follow, the function is written again with them.
  const std::vector<std::string> expected = {"A::one", "A::one", "two", "three", "three", "gone", "not kept"};
  ASSERT_EQ(names, expected);
  const std::uint8_t bytes[] = {0x10, 0x10, 0x11, 0x13, 0x13, 0x14, 0x15};
  for (std::size_t i = 0; i < dump.functions.size(); ++i) {
    EXPECT_EQ(dump.functions[i].code, std::vector<std::uint8_t>(48, bytes[i])) << i;
  }
  const Function& one = dump.functions[1];
  ASSERT_EQ(one.lines.size(), 3u);  // and the end
  EXPECT_EQ(one.lines[0].address, one.address);
  EXPECT_EQ(one.lines[0].line, 3u);
  EXPECT_EQ(one.lines[0].file, "one.src");
  EXPECT_EQ(one.lines[1].address, one.address + 8);
  EXPECT_EQ(one.lines[1].line, 5u);
  EXPECT_EQ(one.lines[1].file, "other.src");
  EXPECT_EQ(dump.functions[2].address, one.address + 2 * 256);
  EXPECT_EQ(dump.functions[5].address, dump.functions[6].address);
  EXPECT_EQ(statistic(folder, "functions_unloaded"), 1u);
  EXPECT_EQ(statistic(folder, "opagent_calls_broken"), 0u);
}

INSTANTIATE_TEST_SUITE_P(Ways, OpAgent, testing::Values("LD_LIBRARY_PATH", "LD_PRELOAD"));

// OProfile's own files are not made either.
TEST(OpAgentCalls, SucceedWhereNobodyWantsCode) {
  for (const char* options : {"formats=none", "intakes=none"}) {
    const TempFolder folder;
    run_host(folder, "all", options);
    EXPECT_TRUE(dump_files(folder).empty()) << options;
  }
}

TEST(OpAgentCalls, CostACounterWhereTheyMakeNoSense) {
  const TempFolder folder;
  run_host(folder, "nonsense");
  EXPECT_GT(statistic(folder, "opagent_calls_broken"), 1'000u);
  EXPECT_GT(statistic(folder, "lines_refused"), 10u);
  EXPECT_EQ(only_dump(folder).functions.back().name, "sound");
}

TEST(OpAgentCalls, ComeFromThreadsAtOnce) {
  const TempFolder folder;
  run_host(folder, "threads");
  std::set<std::uint32_t> with_lines;
  for (const Function& function : only_dump(folder).functions) {
    const std::uint32_t number = number_of(function);
    EXPECT_EQ(function.code.at(0), static_cast<std::uint8_t>(number));
    if (!function.lines.empty()) with_lines.insert(function.lines[0].line == number ? number : 0xFFFFFFFF);
  }
  EXPECT_EQ(with_lines.size(), 1'200u);
  EXPECT_EQ(with_lines.count(0xFFFFFFFF), 0u);
}

}  // namespace
