// Erlang's symbol files, spelled as its JIT lays them out.
#include "agent/intake/gdb/beam_symfile.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "tests/unit/intake/beam_spelled.hpp"

namespace {

using beam_spelled::module_file;
using beam_spelled::Spelled;
using jitquill::gdb::BeamLine;
using jitquill::gdb::BeamRange;
using jitquill::gdb::BeamSymfile;

struct Seen {
  std::vector<BeamRange> ranges;
  std::vector<BeamLine> lines;
};

Seen look(const std::vector<std::uint8_t>& file) {
  Seen seen;
  BeamSymfile(file).for_each([&](const BeamRange& range, std::uint32_t) { seen.ranges.push_back(range); },
                             [&](const BeamLine& line) { seen.lines.push_back(line); });
  return seen;
}

TEST(BeamSymfile, HasItsRangesAndLines) {
  const auto file = module_file();
  ASSERT_TRUE(BeamSymfile(file).is_valid());
  const Seen seen = look(file);
  ASSERT_EQ(seen.ranges.size(), 2u);
  EXPECT_EQ(seen.ranges[0].name, "lists::codeHeader");
  EXPECT_EQ(seen.ranges[1].name, "lists:map/2");
  EXPECT_EQ(seen.ranges[1].address, 0x7F0000000040u);
  EXPECT_EQ(seen.ranges[1].size, 0x50u);
  ASSERT_EQ(seen.lines.size(), 2u);
  EXPECT_EQ(seen.lines[1].offset, 0x20u);  // from the range's start
  EXPECT_EQ(seen.lines[1].line, 9u);
  EXPECT_STREQ(seen.lines[1].file, "lists.erl");
}

TEST(BeamSymfile, OfTheEmulatorHasNoCode) {
  std::vector<std::uint8_t> file(32);
  EXPECT_TRUE(BeamSymfile(file).is_valid());
  EXPECT_TRUE(look(file).ranges.empty());
  file.push_back(0);
  EXPECT_FALSE(BeamSymfile(file).is_valid());
}

TEST(BeamSymfile, IsRefusedUnlessItEndsWhereItSays) {
  const auto whole = module_file();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::vector<std::uint8_t> cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_FALSE(BeamSymfile(cut).is_valid()) << size;
  }
  auto longer = whole;
  longer.push_back(0);
  EXPECT_FALSE(BeamSymfile(longer).is_valid());
}

TEST(BeamSymfile, IsRefusedForEachWrongField) {
  const auto wrong = [](std::size_t at, std::uint8_t value) {
    auto file = module_file();
    file[at] = value;
    return BeamSymfile(file).is_valid();
  };
  EXPECT_FALSE(wrong(0, 2));   // kind
  EXPECT_FALSE(wrong(15, 1));  // base address outside of user space
  EXPECT_FALSE(wrong(16, 3));  // one range more
  EXPECT_FALSE(wrong(21, 0));  // code that ends inside a range
  EXPECT_FALSE(wrong(24, 7));  // the module's name does not end there
}

// What is valid can be walked: nothing is read outside, and no name lies outside.
TEST(BeamSymfile, DamagedIsReadWithinItself) {
  std::mt19937 random(3);
  const auto whole = module_file();
  unsigned valid = 0;
  for (int i = 0; i < 20'000; ++i) {
    auto file = whole;
    for (auto times = random() % 3 + 1; times > 0; --times)
      file[random() % file.size()] = static_cast<std::uint8_t>(random());
    if (!BeamSymfile(file).is_valid()) continue;
    ++valid;
    const auto* const begin = reinterpret_cast<const char*>(file.data());
    for (const BeamRange& range : look(file).ranges) {
      ASSERT_GE(range.name.data(), begin);
      ASSERT_LE(range.name.data() + range.name.size(), begin + file.size());
    }
  }
  EXPECT_GT(valid, 1000u);
}

}  // namespace
