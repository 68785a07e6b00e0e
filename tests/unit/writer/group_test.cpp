// Groups that are more than one load: twins, salted duplicates, moves, samply's inlining. What the strict
// reader, written from the format's page, makes of them.
#include "writer/jitdump/group.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "tests/readers/jitdump/reader.hpp"
#include "writer/jitdump/records.hpp"
#include "writer/jitdump/seen_code.hpp"
#include "writer/unwind/blob.hpp"

namespace jitquill::jitdump {
namespace {

constexpr std::uint64_t kAddress = 0x7f0000010040;
constexpr FrameEvent kFrame[] = {{1, FrameEventKind::kPush, 3, 0}, {30, FrameEventKind::kPop, 3, 0}};

class OneTwin final : public TwinPlaces {
 public:
  std::uint64_t take(std::uint64_t, std::uint64_t size) noexcept override {
    asked_size = size;
    return address;
  }
  std::uint64_t address = kAddress - 0x1000000;
  std::uint64_t asked_size = 0;
};

class Group : public testing::Test {
 protected:
  Group() {
    put_header(out, {.pid = 7, .start_ns = 5});
    load.id = load.index = 1;
    load.when_ns = 100;
    load.address = kAddress;
    load.pid = load.tid = 7;
    load.bytes = code;
    load.name = "f";
    load.file = "f.nib";
    load.lines = lines;
    load.unwinding = Unwinding::from_events(kFrame);
    load.room = 200;
  }
  jitdump_reader::Dump read() const { return jitdump_reader::read(out.view()); }
  static std::string violations(const jitdump_reader::Dump& dump) { return describe(dump.violations); }

  std::vector<std::uint8_t> code = std::vector<std::uint8_t>(32, 0x90);
  std::vector<Line> lines{{0, 1, 0, nullptr}, {8, 2, 0, nullptr}};
  CodeLoad load;
  Written written;
  Bytes out;
};

TEST_F(Group, WithRoomMapsItsTablesBehindIt) {
  ASSERT_EQ(put_group(out, load, 0, written), Status::kOk);
  const auto dump = read();
  EXPECT_EQ(violations(dump), "");
  ASSERT_EQ(dump.functions.size(), 1u);
  EXPECT_FALSE(dump.functions[0].twin);
  EXPECT_EQ(dump.functions[0].mapped_end(), kAddress + 32 + written.tail_size);
}

TEST_F(Group, WithoutRoomLiesAtItsTwinToo) {
  OneTwin twin;
  load.room = 10;
  load.twins = &twin;
  ASSERT_EQ(put_group(out, load, 0, written), Status::kOk);
  const auto dump = read();
  EXPECT_EQ(violations(dump), "");
  ASSERT_EQ(dump.functions.size(), 1u);
  EXPECT_EQ(dump.functions[0].twin, twin.address);
  EXPECT_EQ(dump.functions[0].twin_end(), twin.address + twin.asked_size);
  EXPECT_EQ(dump.functions[0].mapped_end(), kAddress + 32);
  EXPECT_EQ(written.twin_address, twin.address);
  EXPECT_FALSE(written.unwinding_without_room);
}

TEST_F(Group, WithoutRoomAndTwinSaysSo) {
  OneTwin none;
  none.address = 0;
  load.room = 10;
  load.twins = &none;
  ASSERT_EQ(put_group(out, load, 0, written), Status::kOk);
  EXPECT_TRUE(written.unwinding_without_room);
  EXPECT_EQ(violations(read()), "");
}

TEST_F(Group, SaltGoesBehindTheCodeIfThereIsRoom) {
  ASSERT_EQ(put_group(out, load, 0x1122334455667788, written), Status::kOk);
  const auto dump = read();
  EXPECT_EQ(violations(dump), "");
  const auto& bytes = dump.functions.at(0).code;
  ASSERT_EQ(bytes.size(), 40u);
  EXPECT_TRUE(std::equal(code.begin(), code.end(), bytes.begin()));
  EXPECT_EQ(bytes[32], 0x88);
  EXPECT_EQ(dump.functions[0].lines.back().address, kAddress + 40);
  EXPECT_NE(written.tail_size, 0u) << "the tables still have room behind the salt";
  EXPECT_FALSE(written.duplicate_unsalted);
}

TEST_F(Group, SaltDoesNotTakeTheTablesRoom) {
  unwind::BlobSizes sizes;
  ASSERT_EQ(unwind::measure_blob(load.unwinding, 32, false, sizes), Status::kOk);
  load.room = static_cast<std::uint32_t>(unwind::tail_size(32, sizes));  // not a byte more
  ASSERT_EQ(put_group(out, load, 1, written), Status::kOk);
  EXPECT_EQ(read().functions.at(0).code.size(), 32u);
  EXPECT_EQ(written.tail_size, load.room);
  EXPECT_TRUE(written.duplicate_unsalted);
}

TEST_F(Group, SaltGoesOverPaddingOnly) {
  load.room = 0;
  load.unwinding = {};
  std::fill(code.end() - 8, code.end(), 0xCC);
  ASSERT_EQ(put_group(out, load, 0x1122334455667788, written), Status::kOk);
  const auto bytes = read().functions.at(0).code;
  ASSERT_EQ(bytes.size(), 32u);
  EXPECT_EQ(bytes[23], 0x90);
  EXPECT_EQ(bytes[24], 0x88);
  EXPECT_EQ(bytes[31], 0x11);
  EXPECT_FALSE(written.duplicate_unsalted);
}

TEST_F(Group, PutOnceMoreKeepsItsTwin) {
  OneTwin twin;
  load.room = 10;
  load.twins = &twin;
  const std::size_t start = out.size();
  ASSERT_EQ(put_group(out, load, 0, written), Status::kOk);
  twin.address = 0;
  out.cut(start);
  ASSERT_EQ(put_group(out, load, 1, written), Status::kOk);
  EXPECT_EQ(read().functions.at(0).twin, written.twin_address);
  EXPECT_FALSE(written.unwinding_without_room);
  EXPECT_TRUE(written.duplicate_unsalted);
}

TEST_F(Group, FramePointersAreToldByAnEmptyTable) {
  load.unwinding = {.kind = Unwinding::Kind::kFramePointers, .events = {}, .ready = {}};
  load.lines = {};
  ASSERT_EQ(put_group(out, load, 0, written), Status::kOk);
  const auto view = out.view().subspan(40);  // H = U = 20, M = 0, no function in the header's table
  const std::uint64_t sizes[] = {20, 20, 0};
  EXPECT_EQ(std::memcmp(view.data() + 16, sizes, sizeof sizes), 0);
  EXPECT_EQ(view[40 + 8], 0);
  EXPECT_FALSE(written.unwinding_without_room);
}

TEST_F(Group, AMoveNamesItsLoad) {
  const CodeMove move{.id = 1,
                      .index = 9,
                      .when_ns = 100,
                      .from = kAddress,
                      .to = kAddress - 0x1000,
                      .size = 32,
                      .pid = 7,
                      .tid = 8,
                      .unwinding = {},
                      .room = 0};
  Bytes record;
  ASSERT_EQ(put_move_group(record, move, written), Status::kOk);
  const std::uint64_t tail[] = {kAddress - 0x1000, kAddress, kAddress - 0x1000, 32, 9};
  ASSERT_EQ(record.size(), 64u);
  EXPECT_EQ(std::memcmp(record.view().data() + 24, tail, sizeof tail), 0);
}

TEST_F(Group, TablesOfAMoveUpwardsAreOfNoUse) {
  CodeMove move{.id = 1,
                .index = 1,
                .when_ns = 100,
                .from = kAddress,
                .to = kAddress - 0x1000,
                .size = 32,
                .pid = 7,
                .tid = 8,
                .unwinding = load.unwinding,
                .room = 200};
  ASSERT_EQ(put_move_group(out, move, written), Status::kOk);
  EXPECT_FALSE(written.unwinding_without_room);
  move.to = kAddress + 0x1000;
  ASSERT_EQ(put_move_group(out, move, written), Status::kOk);
  EXPECT_TRUE(written.unwinding_without_room);
}

constexpr InlinePosition kPositions[] = {{-1, 5, 2, 4, 1, 0, "outer", "a.nib"},
                                         {0, 9, 0, 8, 0, 0, "inner", nullptr}};
constexpr InlineRow kRows[] = {{0, 0}, {8, 1}};

TEST_F(Group, InliningIsTheseBytes) {
  load.lines = {};
  load.unwinding = {};
  load.inlining = {kPositions, kRows};
  ASSERT_EQ(put_group(out, load, 0, written), Status::kOk);
  const auto record = out.view().subspan(40);
  const auto u32 = [&](std::size_t at) {
    std::uint32_t value;
    std::memcpy(&value, record.data() + at, sizeof value);
    return value;
  };
  EXPECT_EQ(u32(0), 0x31504D54u);                       // "TMP1"
  EXPECT_EQ(u32(4), 48u + 2 * 8 + 2 * 28 + 6 + 6 + 6);  // head, rows, positions, three strings
  const std::uint64_t head[] = {kAddress, 2, 2, 3};
  EXPECT_EQ(std::memcmp(record.data() + 16, head, sizeof head), 0);
  const std::uint32_t body[] = {
      0,          0, 8,          1,            // rows
      0xFFFFFFFF, 0, 1,          4, 1, 5, 2,   // outer: caller, name, file, its line, line
      0,          2, 0xFFFFFFFF, 8, 0, 9, 0};  // inner
  EXPECT_EQ(std::memcmp(record.data() + 48, body, sizeof body), 0);
  EXPECT_EQ(std::memcmp(record.data() + 48 + sizeof body, "outer\0a.nib\0inner\0", 18), 0);
}

TEST_F(Group, EndlessInliningIsLeftOut) {
  const InlinePosition endless[] = {{0, 1, 0, 1, 0, 0, "f", nullptr}};  // its own caller
  const InlineRow rows[] = {{0, 0}};
  load.inlining = {endless, rows};
  EXPECT_EQ(put_group(out, load, 0, written), Status::kLinesLeftOut);
  EXPECT_TRUE(written.lines_left_out);
  EXPECT_EQ(read().functions.at(0).lines.size(), 3u) << "the flat lines stay";
}

bool meets(SeenCode& seen, std::span<const std::uint8_t> code) {
  return SeenCode::meets(seen.trace_of(code));
}

TEST(SeenCode, MeetsTheSameBytesOnly) {
  SeenCode seen;
  std::vector<std::uint8_t> code(200, 1);
  EXPECT_FALSE(meets(seen, code));
  EXPECT_TRUE(meets(seen, code));
  code[0] = 2;
  EXPECT_FALSE(meets(seen, code));
  code[199] = 2;
  EXPECT_FALSE(meets(seen, code));
  code.push_back(2);
  EXPECT_FALSE(meets(seen, code));
  EXPECT_TRUE(meets(seen, code));
}

TEST(SeenCode, TellsManyFunctionsApartButForFew) {
  SeenCode seen;
  std::vector<std::uint8_t> code(64);
  constexpr std::uint32_t kFunctions = 20'000;
  std::uint32_t mistaken = 0, met = 0;
  for (std::uint32_t i = 0; i < 2 * kFunctions; ++i) {
    const std::uint32_t number = i % kFunctions;
    std::memcpy(&code[number % 60], &number, sizeof number);
    const bool is_met = meets(seen, code);
    std::memset(&code[number % 60], 0, sizeof number);
    (i < kFunctions ? mistaken : met) += is_met ? 1 : 0;
  }
  EXPECT_EQ(met, kFunctions) << "equal code always meets";
  EXPECT_LT(mistaken, kFunctions / 100);
}

}  // namespace
}  // namespace jitquill::jitdump
