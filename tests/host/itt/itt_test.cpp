// What a runtime tells ITT's collector is in the dump.
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <regex>
#include <set>

#include "tests/host/jitdump/agent_run.hpp"

namespace {

using jitdump_reader::Dump;
using jitdump_reader::Function;
using test_support::Ended;
using test_support::TempFolder;

Ended run_host(const TempFolder& folder, const std::string& what, const std::string& options = "") {
  test_support::Command command;
  command.words = {ITT_HOST, what};
  command.environment = {{"INTEL_JIT_PROFILER64", JITQUILL_ITTNOTIFY},
                         {"JITQUILL_OPTIONS", "dir=" + folder.file("out") + " " + options}};
  command.folder = folder.path();
  return run(command);
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

// Type and number of bytes of every record, read without knowing any.
std::map<std::uint32_t, int> records_in(const std::string& file) {
  const std::string bytes = test_support::read_text(file);
  std::map<std::uint32_t, int> records;
  std::uint32_t head[2];
  for (std::size_t at = 40; at + sizeof head <= bytes.size(); at += head[1]) {
    std::memcpy(head, bytes.data() + at, sizeof head);
    ++records[head[0]];
    if (head[1] < sizeof head) break;
  }
  return records;
}

constexpr std::uint32_t kLoad = 0;
constexpr std::uint32_t kInlineInfo = 0x31504D54;

TEST(Itt, SamplingIsOnWhereCodeIsWanted) {
  const TempFolder folder;
  EXPECT_EQ(run_host(folder, "mode").exit_code, 1);
  EXPECT_EQ(run_host(folder, "mode", "formats=none").exit_code, 0);
  EXPECT_EQ(run_host(folder, "mode", "intakes=none").exit_code, 0);
  EXPECT_EQ(run_host(folder, "mode", "intakes=itt").exit_code, 1);
  EXPECT_TRUE(dump_files(folder).empty());
}

TEST(Itt, EveryEventDoesWhatItSays) {
  const TempFolder folder;
  const Ended ended = run_host(folder, "all");
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  EXPECT_EQ(ended.out + ended.err, "");
  const Dump dump = only_dump(folder);
  std::vector<std::string> names;
  for (const Function& function : dump.functions) names.push_back(function.name);
  const std::vector<std::string> expected = {"Class.one", "two",   "three",     "two",
                                             "nobody",    "later", "Class.one", "three"};
  ASSERT_EQ(names, expected);
  const std::uint8_t first_bytes[] = {0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x77, 0x78};
  for (std::size_t i = 0; i < dump.functions.size(); ++i) {
    EXPECT_EQ(dump.functions[i].code.at(0), first_bytes[i]) << i;
    EXPECT_EQ(dump.functions[i].code.at(47), first_bytes[i]) << i;
  }
  const Function& one = dump.functions[0];
  ASSERT_EQ(one.lines.size(), 3u);
  EXPECT_EQ(one.lines[0].address, one.address);
  EXPECT_EQ(one.lines[0].line, 3u);
  EXPECT_EQ(one.lines[0].file, "one.src");
  EXPECT_EQ(one.lines[1].address, one.address + 8);
  EXPECT_EQ(one.lines[1].line, 4u);
  EXPECT_EQ(statistic(folder, "functions_unloaded"), 2u);  // both regions of the second
  EXPECT_EQ(statistic(folder, "itt_reports_broken"), 0u);
}

TEST(Itt, InlinedMethodsAreLeftOutWhereNobodyAskedForThem) {
  const TempFolder folder;
  ASSERT_TRUE(run_host(folder, "inlined").succeeded());
  EXPECT_EQ(only_dump(folder).functions.size(), 3u);
  EXPECT_EQ(statistic(folder, "itt_reports_broken"), 0u);
}

class IttInlined : public testing::TestWithParam<const char*> {};

TEST_P(IttInlined, FollowTheirMethodInOneRecord) {
  const TempFolder folder;
  ASSERT_TRUE(run_host(folder, GetParam(), "inlining=1").succeeded());
  const auto files = dump_files(folder);
  ASSERT_EQ(files.size(), 1u);
  auto records = records_in(files.front());
  EXPECT_EQ(records[kLoad], 6);  // each method at once, and again with its tree
  EXPECT_EQ(records[kInlineInfo], 3);
  const std::string bytes = test_support::read_text(files.front());
  EXPECT_NE(bytes.find("innermost"), std::string::npos);
  EXPECT_NE(bytes.find("inner.src"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Ends, IttInlined, testing::Values("inlined", "inlined_and_exit"));

TEST(Itt, BrokenReportsCostACounter) {
  for (const char* options : {"", "inlining=1"}) {
    const TempFolder folder;
    const Ended ended = run_host(folder, "broken", options);
    ASSERT_TRUE(ended.succeeded()) << ended.describe();
    EXPECT_GT(statistic(folder, "itt_reports_broken"), 1'000u);
    EXPECT_GT(statistic(folder, "lines_refused"), 100u);
    if (*options == '\0') {
      EXPECT_EQ(only_dump(folder).functions.back().name, "sound");
    }
  }
}

TEST(Itt, ThreadsReportAtOnce) {
  const TempFolder folder;
  ASSERT_TRUE(run_host(folder, "threads").succeeded());
  std::set<std::uint32_t> numbers;
  for (const Function& function : only_dump(folder).functions) {
    const std::uint32_t number = number_of(function);
    EXPECT_EQ(function.code.at(0), static_cast<std::uint8_t>(number));
    numbers.insert(number);
  }
  EXPECT_EQ(numbers.size(), 2'000u);
}

}  // namespace
