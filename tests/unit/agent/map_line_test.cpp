// Lines of perf maps, sound and broken, and what is remembered of /proc/self/maps.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>

#include "agent/intake/code_ranges.hpp"
#include "agent/intake/perfmap/map_line.hpp"
#include "agent/intake/perfmap/whole_lines.hpp"

namespace jitquill::intake::perfmap {
namespace {

TEST(MapLine, HasTwoNumbersAndAName) {
  for (const char* text :
       {"7f00a0 1c fn", "0x7f00a0 1c fn", "0x00000000007f00a0 0x0000001c fn", "7F00A0 1C fn"}) {
    const auto line = read_line(text);
    ASSERT_TRUE(line) << text;
    EXPECT_EQ(line->start, 0x7f00a0u);
    EXPECT_EQ(line->size, 0x1cu);
    EXPECT_EQ(line->name, "fn");
  }
}

TEST(MapLine, NamesMayHaveBlanks) {
  EXPECT_EQ(read_line("10 20 JS:*f a b.js:1:2 ")->name, "JS:*f a b.js:1:2 ");
}

TEST(MapLine, WhatCannotBeCodeIsRefused) {
  for (const char* text :
       {"", " ", "10", "10 20", "10 20 ", "xyz 20 fn", "10 xyz fn", "10  20 fn", "0 20 fn", "10 0 fn",
        "10 80000000 fn", "ffffffffffffffff 10 fn", "11111111111111111 20 fn", "-10 20 fn", "0x 20 fn"})
    EXPECT_FALSE(read_line(text)) << text;
}

class Maps : public testing::Test {
 protected:
  void SetUp() override { file_ = std::tmpfile(); }
  void TearDown() override {
    std::fclose(file_);
    ranges_.forget();
  }
  void write(const std::string& text) {
    ASSERT_EQ(pwrite(fileno(file_), text.data(), text.size(), size_), static_cast<ssize_t>(text.size()));
    size_ += static_cast<off_t>(text.size());
  }
  void refresh() { ranges_.refresh(fileno(file_), room_); }

  std::FILE* file_ = nullptr;
  off_t size_ = 0;
  Block room_{256};
  CodeRanges ranges_;
};

TEST_F(Maps, ARangeOnceSeenStaysKnown) {
  write("1000-2000 r-xp 0 0 0\n3000-4000 r-xp 0 0 0\n");
  refresh();
  EXPECT_TRUE(ranges_.has(0x1000, 0x1000) && ranges_.has(0x3fff, 1));
  EXPECT_FALSE(ranges_.has(0x1000, 0x1001) || ranges_.has(0xfff, 1) || ranges_.has(0x2000, 1));
  size_ = 0;
  write("1000-2000 rw-p 0 0 0\n2000-3000 r-xp 0 0 0\n");
  refresh();
  EXPECT_TRUE(ranges_.has(0x1000, 0x3000));
}

TEST_F(Maps, ThousandsOfLinesAreReadPieceByPiece) {
  std::string text;
  for (unsigned i = 0; i < 3000; ++i) {
    char line[80];
    std::snprintf(line, sizeof line, "%x000-%x000 r-xp 00000000 00:00 0\n", 2 * i + 16, 2 * i + 17);
    text += line;
  }
  write(text);
  refresh();
  for (std::uint64_t i = 0; i < 3000; ++i) {
    ASSERT_TRUE(ranges_.has((2 * i + 16) << 12, 0x1000)) << i;
    ASSERT_FALSE(ranges_.has((2 * i + 17) << 12, 1)) << i;
  }
}

TEST_F(Maps, ALineIsHandedOutWhenItIsWhole) {
  std::vector<std::string> seen;
  std::uint64_t at = 0;
  const auto read = [&] {
    WholeLines lines(room_, at);
    while (lines.read(fileno(file_))) {
      lines.for_each([&](std::string_view line, std::uint64_t) {
        seen.emplace_back(line);
        return true;
      });
    }
    at = lines.at();
    return lines.passed_over_any();
  };
  write("one\ntw");
  EXPECT_FALSE(read());
  EXPECT_EQ(seen, (std::vector<std::string>{"one"}));
  write("o\nthree\n");
  EXPECT_FALSE(read());
  EXPECT_EQ(seen, (std::vector<std::string>{"one", "two", "three"}));
  write(std::string(300, 'x') + "\nfour\n");
  EXPECT_TRUE(read());
  EXPECT_EQ(seen.back(), "four");
}

}  // namespace
}  // namespace jitquill::intake::perfmap
