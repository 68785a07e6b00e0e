// The strict reader finds what a map holds, and reports each broken rule at its place.
#include "tests/readers/perfmap/reader.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

namespace perfmap_reader {
namespace {

TEST(PerfmapReader, ReadsWhatIsThere) {
  const Map map = read("7f00 1c fib\n1 ffffffff a name with blanks\n");
  EXPECT_EQ(describe(map.violations), "");
  EXPECT_FALSE(map.torn);
  ASSERT_EQ(map.functions.size(), 2u);
  EXPECT_EQ(map.functions[0].address, 0x7f00u);
  EXPECT_EQ(map.functions[0].size, 0x1cu);
  EXPECT_EQ(map.functions[0].name, "fib");
  EXPECT_EQ(map.functions[1].name, "a name with blanks");
}

struct Damage {
  std::string text;
  Rule rule;
  std::uint64_t offset;
};

const std::vector<Damage>& damages() {
  static const std::vector<Damage> all = {
      {"10 1 abc\n20 1 abd", Rule::kLineTorn, 9},
      {"\n", Rule::kStart, 0},
      {"0x10 1 abc\n", Rule::kStart, 1},
      {"010 1 abc\n", Rule::kStart, 3},
      {"AB 1 abc\n", Rule::kStart, 0},
      {"11112222333344445 1 abc\n", Rule::kStart, 16},
      {"10 1 abc\n 10 1 abc\n", Rule::kStart, 9},
      {"10\n", Rule::kStart, 2},
      {"10  1 abc\n", Rule::kSize, 3},
      {"10 01 abc\n", Rule::kSize, 5},
      {"10 0 abc\n", Rule::kSize, 5},
      {"10 1\n", Rule::kSize, 4},
      {"0 1 abc\n", Rule::kRange, 4},
      {"ffffffffffffffff 2 abc\n", Rule::kRange, 19},
      {"10 1 \n", Rule::kNameShort, 5},
      {"10 1 ab\n", Rule::kNameShort, 5},
      {"10 1 " + std::string(4097, 'x') + "\n", Rule::kNameLong, 5},
      {"10 1 a\tbc\n", Rule::kNameControl, 5},
      {std::string("10 1 a\0bc\n", 10), Rule::kNameControl, 5},
  };
  return all;
}

TEST(PerfmapReader, ReportsEachBrokenRuleAtItsPlace) {
  for (const Damage& damage : damages()) {
    const Map map = read(damage.text);
    ASSERT_EQ(map.violations.size(), 1u) << damage.text << describe(map.violations);
    EXPECT_EQ(map.violations[0].rule, damage.rule) << damage.text << describe(map.violations);
    EXPECT_EQ(map.violations[0].offset, damage.offset) << damage.text;
  }
}

TEST(PerfmapReader, IsTriedOnEachRule) {
  std::set<Rule> tried = {Rule::kFileRead, Rule::kFileName};  // below
  for (const Damage& damage : damages()) tried.insert(damage.rule);
#define RULE(id, name, consequence) EXPECT_TRUE(tried.count(Rule::id)) << name;
#include "tests/readers/perfmap/rules.def"
#undef RULE
}

TEST(PerfmapReader, AcceptsATornTailOnlyFromAKilledProcess) {
  const Map map = read("10 1 abc\n20", {.may_be_torn = true});
  EXPECT_EQ(describe(map.violations), "");
  EXPECT_TRUE(map.torn);
  EXPECT_EQ(map.functions.size(), 1u);
}

TEST(PerfmapReader, WantsTheFileAndItsName) {
  std::string folder = "/tmp/perfmap-reader.XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  for (const char* good : {"perf-1.map", "perf-4711.map"}) {
    std::ofstream(folder + "/" + good) << "10 1 abc\n";
    EXPECT_EQ(describe(read_file(folder + "/" + good).violations), "");
  }
  for (const char* wrong : {"perf-.map", "perf-01.map", "perf-1.map2", "xperf-1.map", "perf-1map"}) {
    std::ofstream(folder + "/" + wrong) << "10 1 abc\n";
    const Map map = read_file(folder + "/" + wrong);
    ASSERT_EQ(map.violations.size(), 1u) << wrong;
    EXPECT_EQ(map.violations[0].rule, Rule::kFileName);
  }
  EXPECT_EQ(read_file(folder + "/perf-2.map").violations.at(0).rule, Rule::kFileRead);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace perfmap_reader
