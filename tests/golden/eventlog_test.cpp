// The bytes of an eventlog's parts, spelled from the specification of the format.
#include <gtest/gtest.h>

#include <string>

#include "tests/hex.hpp"
#include "writer/eventlog/record.hpp"

namespace jitquill::eventlog {
namespace {

using std::string_view;

// Digits as they are spelled here; a # comments to the end of its line.
void expect_bytes(const Bytes& out, string_view spelled) {
  const std::vector<std::uint8_t> put(out.view().begin(), out.view().end());
  EXPECT_EQ(put, tests::from_hex(spelled));
}

TEST(EventlogHeader, DeclaresWhatItsOwnersHave) {
  Bytes out;
  constexpr Owner kOwners[] = {Owner::kPerfTools};
  put_header(kOwners, out);
  expect_bytes(out, R"(68647262 68657462                           # hdrb hetb
    65746200 008c ffff 00000028                                       # etb, 140, variable, 40 bytes of text
    6e616d65206f6620612068617264776172                                # name of a hardwar
    6520636f756e746572206f722074726163                                # e counter or trac
    65706f696e74 00000000 65746500                                    # epoint; no extra information, ete
    65746200 008d 0014 0000002c                                       # 141: 20 bytes
    636f756e74657220616476616e63656420                                # counter advanced
    627920706572696f642b3120696e20616e                                # by period+1 in an
    204f5320746872656164 00000000 65746500                            #  OS thread
    65746200 008e 000c 0000001e                                       # 142: 12 bytes
    7472616365706f696e742068697420696e                                # tracepoint hit in
    20616e204f5320746872656164 00000000 65746500                      #  an OS thread
    68657465 68647265 64617462)");  // hete hdre datb
}

TEST(EventlogRecord, IsTheseBytes) {
  Bytes out;
  EXPECT_EQ(
      put<Event::kStopThread>(0x0102030405060708, out, std::uint32_t{7}, std::uint16_t{5}, std::uint32_t{9}),
      Status::kOk);
  EXPECT_EQ(put<Event::kGcStart>(1, out), Status::kOk);
  EXPECT_EQ(put<Event::kUserMarker>(2, out, string_view("a\xC3\xA4")), Status::kOk);
  EXPECT_EQ(put<Event::kInternString>(3, out, string_view("n"), std::uint32_t{4}), Status::kOk);
  put_end(out);
  expect_bytes(out, R"(
    0002 0102030405060708 00000007 0005 00000009   # STOP_THREAD
    0009 0000000000000001                          # GC_START
    003a 0000000000000002 0003 61c3a4              # USER_MARKER, 3 bytes of payload
    002a 0000000000000003 0005 6e 00000004         # INTERN_STRING
    ffff)");
}

TEST(EventlogRecord, HasItsTextsListsAndBytes) {
  Bytes out;
  constexpr string_view kArgs[] = {"a", "", "bc"};
  constexpr std::uint32_t kStack[] = {3, 4};
  constexpr std::uint8_t kRaw[] = {0, 255};
  EXPECT_EQ(put<Event::kProgramArgs>(1, out, std::uint32_t{0}, std::span<const string_view>(kArgs)),
            Status::kOk);
  EXPECT_EQ(put<Event::kHeapProfCostCentre>(2, out, std::uint32_t{6}, string_view("l"), string_view(""),
                                            string_view("f:1"), std::uint8_t{1}),
            Status::kOk);
  EXPECT_EQ(put<Event::kProfSampleCostCentre>(3, out, std::uint32_t{1}, std::uint64_t{2},
                                              std::span<const std::uint32_t>(kStack)),
            Status::kOk);
  EXPECT_EQ(put<Event::kUserBinaryMsg>(4, out, std::span<const std::uint8_t>(kRaw)), Status::kOk);
  expect_bytes(out, R"(
    001e 0000000000000001 000a 00000000 6100 00 626300    # a NUL behind each
    00a1 0000000000000002 000c 00000006 6c00 00 663a3100 01
    00a7 0000000000000003 0015 00000001 0000000000000002 02 00000003 00000004
    00b5 0000000000000004 0002 00ff)");
}

TEST(EventlogBlock, HasItsSizeOnceItIsClosed) {
  Bytes out;
  out.u8(0xAA);
  Block block(5, 2, out);
  expect_bytes(out, "aa 0012 0000000000000005 00000000 0000000000000000 0002");
  EXPECT_EQ(put<Event::kGcEnd>(6, out), Status::kOk);
  block.close(7);
  expect_bytes(out, R"(
    aa 0012 0000000000000005 00000022 0000000000000007 0002    # 24 + 10 bytes
    000a 0000000000000006)");
}

// Nothing is narrowed, and nothing left out.
static_assert(Fits<Event::kGcStart>);
static_assert(!Fits<Event::kGcStart, std::uint32_t>);
static_assert(Fits<Event::kMigrateThread, std::uint32_t, std::uint16_t>);
static_assert(!Fits<Event::kMigrateThread, std::uint32_t, std::uint32_t>);
static_assert(!Fits<Event::kMigrateThread, std::uint32_t>);
static_assert(!Fits<Event::kMigrateThread, std::uint16_t, std::uint32_t>);
static_assert(!Fits<Event::kUserMsg, const char*>);

}  // namespace
}  // namespace jitquill::eventlog
