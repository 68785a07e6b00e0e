// The bytes of a perf map, spelled from the published format (docs/perfmap.md), not from our writer's code.
#include <gtest/gtest.h>

#include <string>

#include "writer/bytes/bytes.hpp"
#include "writer/perfmap/line.hpp"

namespace jitquill::perfmap {
namespace {

struct Put {
  std::string text;
  bool is_changed;
};

Put put(std::uint64_t start, std::uint64_t size, std::string_view name) {
  Bytes out;
  const bool is_changed = put_line(out, start, size, name);
  EXPECT_FALSE(out.failed());
  return {{out.view().begin(), out.view().end()}, is_changed};
}

TEST(PerfmapLine, IsStartSizeAndName) {
  EXPECT_EQ(put(0x7f73ada9c040, 44, "jitted_hot").text, "7f73ada9c040 2c jitted_hot\n");
  EXPECT_EQ(put(1, 1, "fib").text, "1 1 fib\n");
  EXPECT_EQ(put(~0ull - 0x7FFFFFFF, 0x7FFFFFFF, "fib").text, "ffffffff80000000 7fffffff fib\n");
}

TEST(PerfmapLine, KeepsBlanksAndUtf8InTheName) {
  const Put line = put(0x10, 2, "ns::f(int, char) const [\xC3\xA9]");
  EXPECT_EQ(line.text, "10 2 ns::f(int, char) const [\xC3\xA9]\n");
  EXPECT_FALSE(line.is_changed);
}

TEST(PerfmapLine, StaysOneLineWhateverTheName) {
  const Put line = put(0x10, 2, "a\nb\tc\x7F");
  EXPECT_EQ(line.text, "10 2 a?b?c?\n");
  EXPECT_TRUE(line.is_changed);
  EXPECT_EQ(put(0x10, 2, std::string(5000, 'x')).text, "10 2 " + std::string(4096, 'x') + "\n");
}

TEST(PerfmapLine, CallsANamelessFunctionByItsPlace) {
  EXPECT_EQ(put(0xabc0, 2, "").text, "abc0 2 jit_abc0\n");
}

// perf 6.1 passes over a shorter name.
TEST(PerfmapLine, FillsANameToThreeBytes) {
  EXPECT_EQ(put(0x10, 2, "f").text, "10 2 f  \n");
  EXPECT_EQ(put(0x10, 2, "fn").text, "10 2 fn \n");
  EXPECT_EQ(put(0x10, 2, "fun").text, "10 2 fun\n");
  EXPECT_FALSE(put(0x10, 2, "f").is_changed);
}

TEST(PerfmapLine, IsPutBehindTheOneBefore) {
  Bytes out;
  (void)put_line(out, 0x10, 2, "one");
  (void)put_line(out, 0x20, 3, "f");
  const std::string text(out.view().begin(), out.view().end());
  EXPECT_EQ(text, "10 2 one\n20 3 f  \n");
}

}  // namespace
}  // namespace jitquill::perfmap
