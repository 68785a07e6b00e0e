#include "writer/bytes/bytes.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>
#include <vector>

#include "tests/hex.hpp"
#include "tests/unit/writer/failing_new.hpp"

namespace jitquill {
namespace {

using tests::NoMemoryHere;
using tests::to_hex;

TEST(Bytes, FieldsAreInHostOrderWithoutPadding) {
  Bytes out;
  out.u8(0x01).u16(0x0302).u32(0x07060504).u64(0x0f0e0d0c0b0a0908).raw(std::string_view("AB"));
  EXPECT_EQ(to_hex(out.view()), "01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f 41\n42");
}

TEST(Bytes, CursorPutsDwarfNumbersInTheReservedRoom) {
  Bytes out;
  out.u8(0xAA);
  std::uint8_t* const room = out.reserve(100);
  ASSERT_NE(room, nullptr);
  Cursor cursor(room);
  cursor.uleb128(0).uleb128(127).uleb128(128).uleb128(624485).uleb128(
      std::numeric_limits<std::uint64_t>::max());
  cursor.sleb128(-8).sleb128(63).sleb128(64).sleb128(-64).sleb128(-65).sleb128(-123456);
  EXPECT_EQ(out.size(), 1u) << "not in the buffer yet";
  out.put_up_to(cursor);
  EXPECT_EQ(to_hex(out.view()),
            "aa 00 7f 80 01 e5 8e 26 ff ff ff ff ff ff ff ff\nff 01 78 3f c0 00 40 bf 7f c0 bb 78");
}

TEST(Bytes, PaddingCountsFromWhereItIsTold) {
  Bytes out;
  out.u8(1).u8(2).u8(3).pad_to(4, 0xEE, 2);
  EXPECT_EQ(to_hex(out.view()), "01 02 03 ee ee ee");
  out.pad_to(4, 0xEE, 2);
  EXPECT_EQ(out.size(), 6u);
}

TEST(Bytes, ContentsSurviveGrowth) {
  std::vector<std::uint8_t> expected(100'000);
  std::iota(expected.begin(), expected.end(), std::uint8_t{0});
  Bytes out;
  for (const std::uint8_t v : expected) out.u8(v);
  EXPECT_EQ(std::vector(out.view().begin(), out.view().end()), expected);
}

TEST(Bytes, PatchChangesOnlyWhatWasPut) {
  Bytes out;
  out.u32(1).u64(2).u8(9);
  out.patch_u32(0, 0xAABBCCDD);
  out.patch_u64(4, 0x1122334455667788);
  out.patch_u32(10, 0);
  out.patch_u64(100, 0);
  EXPECT_EQ(to_hex(out.view()), "dd cc bb aa 88 77 66 55 44 33 22 11 09");
}

TEST(Bytes, CutKeepsWhatIsBeforeIt) {
  Bytes out;
  out.u32(0x04030201).cut(2);
  out.cut(100);
  EXPECT_EQ(to_hex(out.view()), "01 02");
}

TEST(Bytes, WithoutMemoryItFailsAndIgnoresWhatFollows) {
  Bytes out;
  out.fill(1, 1000);
  {
    const NoMemoryHere none;
    out.fill(2, 1000);
  }
  EXPECT_TRUE(out.failed());
  EXPECT_EQ(out.size(), 1000u);
  out.u8(3);
  EXPECT_EQ(out.size(), 1000u);
  out.cut(10);
  EXPECT_TRUE(out.failed());
}

TEST(Bytes, ClearMakesAFailedBufferUsable) {
  Bytes out;
  out.fill(0, std::numeric_limits<std::size_t>::max());
  ASSERT_TRUE(out.failed());
  out.clear();
  out.u8(7);
  EXPECT_FALSE(out.failed());
  EXPECT_EQ(to_hex(out.view()), "07");
}

TEST(Bytes, ClearGivesBackAHugeBufferAndKeepsASmallOne) {
  Bytes out;
  out.fill(0, 1000).clear();
  Bytes huge;
  huge.fill(0, Bytes::kKeptCapacity + 1).clear();
  const NoMemoryHere none;
  out.fill(0, 1000);
  huge.u8(0);
  EXPECT_FALSE(out.failed());
  EXPECT_TRUE(huge.failed());
}

TEST(Bytes, InMemoryOfTheCallersItNeverWritesBeyondTheEnd) {
  std::uint8_t room[10] = {};
  {
    const std::span<std::uint8_t> memory(room);
    Bytes out(memory.first(8));
    out.u32(0x04030201).u32(0x08070605);
    EXPECT_FALSE(out.failed());
    out.u8(9);
    EXPECT_TRUE(out.failed());
    EXPECT_EQ(out.size(), 8u);
    out.clear();
    out.u8(0xEE);
  }
  EXPECT_EQ(to_hex(room), "ee 02 03 04 05 06 07 08 00 00");
}

}  // namespace
}  // namespace jitquill
