#include "agent/life/options.hpp"

#include "agent/base/arch_clock.hpp"

#include <gtest/gtest.h>
#include <random>
#include <string>

namespace jitquill {
namespace {

Options parsed(std::string_view text) {
  Options options;
  set_defaults(options);
  apply(options, text);
  return options;
}

TEST(Options, DefaultsAreTheTables) {
  const Options options = parsed("");
  EXPECT_EQ(options.formats, 1u);  // jitdump, the first row
  EXPECT_EQ(options.dir.view(), "jitquill.data");
  EXPECT_EQ(options.log.view(), "log");
  EXPECT_EQ(options.unwind, UnwindMode::kTwin);
  EXPECT_FALSE(options.verbose);
  EXPECT_EQ(options.problem_count, 0u);
}

TEST(Options, TheTableCanBeReadRowByRow) {
  std::size_t built = 0;
  for (std::size_t i = 0; i < option_count(); ++i) {
    const OptionText row = option_text(i);
    EXPECT_FALSE(row.name.empty());
    const Options options = parsed(std::string(row.name) + "=" + std::string(row.initial));
    EXPECT_EQ(options.problem_count, row.is_built ? 0u : 1u) << row.name;
    built += row.is_built ? 1u : 0u;
  }
  EXPECT_GE(built, 10u);
}

TEST(Options, ValuesMayBeQuotedAndBlanksRepeated) {
  const Options options = parsed("  dir='/a b/c'\t unwind=off  verbose=1 log=\"my log\" ");
  EXPECT_EQ(options.dir.view(), "/a b/c");
  EXPECT_EQ(options.unwind, UnwindMode::kOff);
  EXPECT_TRUE(options.verbose);
  EXPECT_EQ(options.log.view(), "my log");
  EXPECT_EQ(options.problem_count, 0u);
}

TEST(Options, TheLastWordWins) {
  EXPECT_EQ(parsed("dir=a dir=b").dir.view(), "b");
}

TEST(Options, WhatWasTakenIsRemembered) {
  const Options options = parsed("dir=a hooks='x y' verbose=7 dir=b hook=z");
  EXPECT_EQ(options.words.view(), (std::string_view{"hooks=x y\0dir=b\0", 16}));
  std::string many;
  for (int i = 0; i < 40; ++i) many += " dir=" + std::string(1900, static_cast<char>('a' + i % 26));
  EXPECT_EQ(parsed(many).words.view().substr(0, 5), "dir=n");
}

TEST(Options, MapsGoWherePerfLooksUnlessSaidOtherwise) {
  EXPECT_EQ(parsed("").perfmap_at, PerfmapAt::kTmp);
  EXPECT_EQ(parsed("perfmap_at=dir").perfmap_at, PerfmapAt::kDir);
  EXPECT_EQ(parsed("perfmap_at=both").perfmap_at, PerfmapAt::kBoth);
}

TEST(Options, NoneMeansNone) {
  EXPECT_EQ(parsed("formats=none").formats, 0u);
  EXPECT_EQ(parsed("log=none").log.view(), "");
}

struct Wrong {
  const char* text;
  const char* why;
};
class OptionsWrong : public testing::TestWithParam<Wrong> {};

TEST_P(OptionsWrong, AreNamedAndTheDefaultStays) {
  const Options options = parsed(GetParam().text);
  ASSERT_EQ(options.problem_count, 1u) << GetParam().text;
  EXPECT_EQ(options.problems[0].what.view(), GetParam().text);
  EXPECT_NE(options.problems[0].why.view().find(GetParam().why), std::string::npos)
      << options.problems[0].why.view();
  const Options defaults = parsed("");
  EXPECT_EQ(options.formats, defaults.formats);
  EXPECT_EQ(options.dir.view(), defaults.dir.view());
  EXPECT_EQ(options.unwind, defaults.unwind);
  EXPECT_EQ(options.perfmap_at, defaults.perfmap_at);
  EXPECT_EQ(options.verbose, defaults.verbose);
}

INSTANTIATE_TEST_SUITE_P(
    Each, OptionsWrong,
    testing::Values(
        Wrong{"nonsense=1", "unknown option"}, Wrong{"nonsense", "key=value"},
        Wrong{"formats=jitdmp", "unknown name"}, Wrong{"intakes=gbd", "unknown name"},
        Wrong{"sample=100001", "1 to 100000"}, Wrong{"sample=1k", "1 to 100000"},
        Wrong{"sample.stack=61k", "60k"}, Wrong{"sample.event=faults", "clock or cycles"},
        Wrong{"eventlog.level=9.2", "no such GHC"}, Wrong{"eventlog.own=2", "0 or 1"},
        Wrong{"eventlog.profile=heap", "ticky and samples"}, Wrong{"eventlog.interval=0", "1 to 10000"},
        Wrong{"eventlog.interval=1k", "1 to 10000"}, Wrong{"generations=2k", "a number"},
        Wrong{"openj9.select=jq", "COMPONENT:LEVEL"}, Wrong{"openj9.type=ring", "external or internal"},
        Wrong{"hooks=a,,b", "pattern is empty"}, Wrong{"unwind=twins", "twin, gap or off"},
        Wrong{"unwind=on", "gap or off"}, Wrong{"perfmap_at=/tmp", "tmp, dir or both"},
        Wrong{"verbose=yes", "0 or 1"}, Wrong{"dir=", "empty"}, Wrong{"log=/tmp/x", "file name"},
        Wrong{"log=stats", "taken"}, Wrong{"log=..", "taken"}, Wrong{"log=jit-1.dump", "taken"},
        Wrong{"log=calls", "taken"}, Wrong{"log=oprofile", "taken"}, Wrong{"log=x.eventlog", "taken"},
        Wrong{"log=x.gc.dat", "taken"}, Wrong{"log=lanes", "taken"}, Wrong{"dir=a\x1b", "control"},
        Wrong{"dir='abc", "quote"}, Wrong{"log=\"x formats=gdb", "quote"}, Wrong{"=", "unknown option"},
        Wrong{"dir=/x/%z", "%p is the process"}, Wrong{"dir=/x%", "%p is the process"},
        Wrong{"children=on", "same or off"}, Wrong{"reannounce=2", "0 or 1"},
        Wrong{"max_bytes=64000", "at least 64k"}, Wrong{"max_bytes=1T", "k, M or G"},
        Wrong{"max_bytes=-1", "number of bytes"}, Wrong{"max_bytes=", "number of bytes"},
        Wrong{"max_bytes=1kk", "number of bytes"}, Wrong{"max_bytes=99999999999G", "number of bytes"},
        Wrong{"policy=wait", "lossless, drop"}, Wrong{"memory=1M", "1100k to 64G"},
        Wrong{"memory=65G", "1100k to 64G"}, Wrong{"memory=much", "number of bytes"}));

TEST(Options, SizesTakeUnits) {
  EXPECT_EQ(parsed("").max_bytes, 0u);
  EXPECT_EQ(parsed("max_bytes=100000").max_bytes, 100'000u);
  EXPECT_EQ(parsed("max_bytes=64k").max_bytes, 65'536u);
  EXPECT_EQ(parsed("max_bytes=3M").max_bytes, 3u << 20);
  EXPECT_EQ(parsed("generations=3").generations, 3u);
  EXPECT_EQ(parsed("max_bytes=2G").max_bytes, std::uint64_t{2} << 30);
}

TEST(Options, WhatHappensToEventsWithoutRoom) {
  EXPECT_EQ(parsed("").policy, LanePolicy::kLossless);
  EXPECT_EQ(parsed("policy=drop").policy, LanePolicy::kDrop);
  EXPECT_EQ(parsed("policy=flight").policy, LanePolicy::kFlight);
  EXPECT_EQ(parsed("").memory_bytes, 64u << 20);
  EXPECT_EQ(parsed("memory=1100k").memory_bytes, 1100u << 10);
}

TEST(Options, OnlyADirOfTheUsersCountsAsGiven) {
  EXPECT_FALSE(parsed("").dir_was_given);
  EXPECT_FALSE(parsed("dir=%z").dir_was_given);
  EXPECT_TRUE(parsed("dir=jitquill.data").dir_was_given);
}

TEST(Options, ArchClockIsRefusedExactlyWhereTheKernelCannotConvert) {
  const Options options = parsed("arch_clock=1");
  EXPECT_EQ(options.arch_clock, arch_clock::trouble() == nullptr);
  EXPECT_EQ(options.problem_count, options.arch_clock ? 0u : 1u);
}

TEST(Options, ManyProblemsAreCountedAndTheFirstKept) {
  const Options options = parsed("a=1 b=1 c=1 d=1 e=1 f=1 g=1 h=1 i=1 j=1");
  EXPECT_EQ(options.problem_count, 10u);
  EXPECT_EQ(options.problems[7].what.view(), "h=1");
}

TEST(Options, LongWordsAreRefusedNotCut) {
  EXPECT_EQ(parsed("dir=" + std::string(5000, 'x')).dir.view(), "jitquill.data");
  EXPECT_EQ(parsed("dir=" + std::string(5000, 'x')).problem_count, 1u);
}

TEST(Options, AnyTextEndsInOptionsOrProblems) {
  std::mt19937 random(3);
  const std::string_view letters = "dir=formats none,\"'() \tx1";
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    for (auto n = random() % 40; n > 0; --n) text += letters[random() % letters.size()];
    const Options options = parsed(text);
    ASSERT_LE(options.dir.view().size(), text.size() + 13) << text;
  }
}

TEST(Options, HelpHasALineForEachBuiltOption) {
  static int lines;
  lines = 0;
  for_each_help_line([](std::string_view line) { lines += line.find('=') != line.npos ? 1 : 0; });
  EXPECT_GE(lines, 7);
}

}  // namespace
}  // namespace jitquill
