// Wrong arguments and wrong options: the host goes on, and what can be written is written.
#include <gtest/gtest.h>

#include <algorithm>
#include <cinttypes>
#include <map>

#include "tests/host/jitdump/agent_run.hpp"

namespace {

using jitdump_reader::Dump;
using jitdump_reader::Expectations;
using jitdump_reader::Function;
using test_support::Ended;
using test_support::TempFolder;

class JitdumpBadInput : public testing::Test {
 protected:
  void SetUp() override {
    const Ended ended = run(with_agent(folder_, BAD_INPUT_HOST, {}));
    ASSERT_TRUE(ended.succeeded()) << ended.describe();
    const auto files = dump_files(folder_);
    ASSERT_EQ(files.size(), 2u);  // one before jitquill_stop(), one after jitquill_start()
    Expectations expectations;
    expectations.nothing_freed = true;
    first_ = judged(files[0], expectations);
    second_ = judged(files[1], expectations);
    if (first_.functions.size() < second_.functions.size()) std::swap(first_, second_);
    for (const Function& function : first_.functions) by_name_[function.name] = &function;
  }

  TempFolder folder_;
  Dump first_;
  Dump second_;
  std::map<std::string, const Function*> by_name_;
};

TEST_F(JitdumpBadInput, LeavesNothingOfWhatWasRefused) {
  EXPECT_EQ(by_name_.count("refused"), 0u);
  EXPECT_EQ(by_name_.count("when_stopped"), 0u);
  EXPECT_EQ(first_.functions.size(), 17u);
}

TEST_F(JitdumpBadInput, HasNamesRepaired) {
  EXPECT_TRUE(by_name_.count("a?b?c?d?"));
  EXPECT_TRUE(by_name_.count("f\xC3\xBCr<T>(int, \xE2\x88\x80)"));
  EXPECT_TRUE(by_name_.count(std::string(4096, 'n')));
  unsigned unnamed = 0;
  for (const auto& [name, function] : by_name_) {
    char wanted[32];
    std::snprintf(wanted, sizeof wanted, "jit_%" PRIx64, function->address);
    if (name == wanted) ++unnamed;
  }
  EXPECT_EQ(unnamed, 2u);  // NULL and ""
}

TEST_F(JitdumpBadInput, LosesLinesAlone) {
  for (const char* name : {"lines_unsorted", "lines_outside", "lines_nowhere"}) {
    ASSERT_TRUE(by_name_.count(name)) << name;
    EXPECT_TRUE(by_name_[name]->lines.empty()) << name;
  }
}

TEST_F(JitdumpBadInput, LosesUnwindingAlone) {
  for (int i = 0; i < 7; ++i) {
    const std::string name = "frame_bad_" + std::to_string(i);
    ASSERT_TRUE(by_name_.count(name)) << name;
    EXPECT_FALSE(by_name_[name]->unwinding.has_value()) << name;
  }
  ASSERT_TRUE(by_name_.count("frame_of_newer_kind"));
  EXPECT_FALSE(by_name_["frame_of_newer_kind"]->unwinding.has_value());
  ASSERT_TRUE(by_name_.count("frame_leaf"));
  EXPECT_TRUE(by_name_["frame_leaf"]->unwinding.has_value());
}

TEST_F(JitdumpBadInput, ClosesTheFirstDumpAndFillsTheSecond) {
  EXPECT_TRUE(first_.closed);
  ASSERT_EQ(second_.functions.size(), 1u);
  EXPECT_EQ(second_.functions[0].name, "started_anew");
}

TEST(JitdumpWithoutAgent, HostsRunTheSame) {
  TempFolder folder;
  test_support::Command command = with_agent(folder, ANNOUNCE_HOST, {"2"});
  std::erase_if(command.environment, [](const auto& variable) { return variable.first == "LD_PRELOAD"; });
  const Ended ended = run(command);
  EXPECT_TRUE(ended.succeeded()) << ended.describe();
  EXPECT_EQ(ended.out, "-1\n-1\n");  // JITQUILL_NO_AGENT
  EXPECT_TRUE(dump_files(folder).empty());
}

struct OptionCase {
  const char* name;
  const char* options;
  const char* named;  // what the message must name
};

class JitdumpBadOption : public testing::TestWithParam<OptionCase> {};

// The agent must not disturb what a host prints, and its one line must say what was wrong.
TEST_P(JitdumpBadOption, IsSaidOnceAndTheDefaultIsUsed) {
  TempFolder folder;
  const Ended ended = run(with_agent(folder, ANNOUNCE_HOST, {"3"}, GetParam().options));
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  EXPECT_EQ(ended.out, "0\n0\n0\n");
  EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << ended.err;
  EXPECT_NE(ended.err.find(GetParam().named), std::string::npos) << ended.err;
  EXPECT_NE(ended.err.find("jitquill"), std::string::npos) << ended.err;
  EXPECT_EQ(only_dump(folder).functions.size(), 3u);
}

INSTANTIATE_TEST_SUITE_P(Options, JitdumpBadOption,
                         testing::Values(OptionCase{"UnknownKey", "nosuchoption=1", "nosuchoption"},
                                         OptionCase{"UnknownFormat", "formats=jitdump,nosuchformat",
                                                    "nosuchformat"},
                                         OptionCase{"UnknownValue", "unwind=maybe", "unwind=maybe"},
                                         OptionCase{"NotBuiltYet", "depth=99", "depth"},
                                         OptionCase{"NoValue", "justaword", "justaword"},
                                         OptionCase{"LinesInIt", "'no\nsuch\x1B'=1", "no?such?"},
                                         OptionCase{"QuoteWithoutEnd", "unwind='off", "unwind='off"},
                                         OptionCase{"OutOfRange", "verbose=7", "verbose=7"}),
                         [](const auto& option) { return std::string(option.param.name); });

// Its folder is not known then: the default is in the folder where the host started.
TEST(JitdumpOptions, TooManyOfThemAreSaidToBe) {
  TempFolder folder;
  const Ended ended = run(with_agent(folder, ANNOUNCE_HOST, {"3"}, std::string(100'000, 'x')));
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << ended.err;
  EXPECT_NE(ended.err.find("JITQUILL_OPTIONS"), std::string::npos) << ended.err;
  EXPECT_EQ(only_dump(folder).functions.size(), 3u);
}

TEST(JitdumpOptions, GoodOnesAreNotTalkedAbout) {
  TempFolder folder;
  const Ended ended = run(with_agent(folder, ANNOUNCE_HOST, {"3"}, "formats=jitdump unwind='gap'"));
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  EXPECT_EQ(ended.out, "0\n0\n0\n");
  EXPECT_EQ(ended.err, "");
  const Dump dump = only_dump(folder);
  ASSERT_EQ(dump.functions.size(), 3u);
  for (std::uint32_t i = 0; i < 3; ++i) EXPECT_EQ(differences(dump.functions[i], i), "");
  EXPECT_EQ(test_support::files_below(folder.path(), "stats", "").size(), 1u);
}

TEST(JitdumpOptions, NoFormatsLeaveNoFile) {
  TempFolder folder;
  const Ended ended = run(with_agent(folder, ANNOUNCE_HOST, {"3"}, "formats=none"));
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  EXPECT_EQ(ended.out, "-2\n-2\n-2\n");  // JITQUILL_OFF
  EXPECT_EQ(ended.err, "");
  EXPECT_TRUE(test_support::files_below(folder.path(), "", "").empty());
}

TEST(JitdumpOptions, UnwindOffLeavesFunctionsAndLines) {
  TempFolder folder;
  const Ended ended = run(with_agent(folder, ANNOUNCE_HOST, {"3"}, "unwind=off"));
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  const Dump dump = only_dump(folder);
  ASSERT_EQ(dump.functions.size(), 3u);
  for (const Function& function : dump.functions) {
    EXPECT_FALSE(function.unwinding.has_value());
    EXPECT_FALSE(function.lines.empty());
  }
}

TEST(JitdumpPackedCode, HasTwinsThatShareNoAddress) {
  TempFolder folder;
  const Ended ended = run(with_agent(folder, ANNOUNCE_HOST, {"500", "packed"}));
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  Expectations expectations;
  expectations.nothing_freed = true;
  const Dump dump = only_dump(folder, expectations);
  ASSERT_EQ(dump.functions.size(), 500u);
  for (std::uint32_t i = 0; i < 500; ++i) {
    ASSERT_EQ(differences(dump.functions[i], i), "");
    ASSERT_TRUE(dump.functions[i].twin.has_value());
  }
}

TEST(JitdumpPackedCode, HasNoTwinsWhenGapIsAskedFor) {
  TempFolder folder;
  const Ended ended = run(with_agent(folder, ANNOUNCE_HOST, {"5", "packed"}, "unwind=gap"));
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  const Dump dump = only_dump(folder);
  ASSERT_EQ(dump.functions.size(), 5u);
  for (const Function& function : dump.functions) {
    ASSERT_TRUE(function.unwinding.has_value());
    EXPECT_EQ(function.unwinding->mapped, 0u);
    EXPECT_FALSE(function.twin.has_value());
  }
}

TEST(JitdumpOptions, HelpGoesToStderr) {
  TempFolder folder;
  const Ended ended = run(with_agent(folder, ANNOUNCE_HOST, {"1"}, "help=1"));
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  EXPECT_EQ(ended.out, "0\n");
  for (const char* option : {"formats=", "dir=", "unwind=", "help="}) {
    EXPECT_NE(ended.err.find(option), std::string::npos) << option;
  }
}

}  // namespace
