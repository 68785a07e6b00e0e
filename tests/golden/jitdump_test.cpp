// The bytes of a jitdump file, spelled from the published format (docs/jitdump.md), not from our writer's
// tables.
#include <gtest/gtest.h>

#include <vector>

#include "tests/hex.hpp"
#include "writer/jitdump/group.hpp"
#include "writer/jitdump/records.hpp"
#include "writer/unwind/blob.hpp"

namespace jitquill::jitdump {
namespace {

using tests::from_hex;
using tests::to_hex;

constexpr std::string_view kHeader = R"(
  44 54 69 4a              # magic "DTiJ": little-endian
  01 00 00 00              # version 1
  28 00 00 00              # total_size 40
  3e 00 00 00              # e_machine 62, x86-64
  00 00 00 00              # pad1
  82 35 00 00              # pid 13698
  f2 b8 46 f4 1f 01 00 00  # timestamp: when the output was opened
  00 00 00 00 00 00 00 00  # flags: timestamps are CLOCK_MONOTONIC nanoseconds
)";

constexpr std::string_view kDebugInfo = R"(
  02 00 00 00              # id CODE_DEBUG_INFO
  c8 00 00 00              # total_size 200 = 32 + 7 * (16 + 8)
  b5 ba 46 f4 1f 01 00 00  # timestamp
  40 c0 a9 ad 73 7f 00 00  # code_addr
  07 00 00 00 00 00 00 00  # nr_entry: six rows and the sentinel
  40 c0 a9 ad 73 7f 00 00  03 00 00 00  00 00 00 00  68 6f 74 2e 73 72 63 00  # +0, line 3, no column, "hot.src"
  50 c0 a9 ad 73 7f 00 00  04 00 00 00  00 00 00 00  68 6f 74 2e 73 72 63 00  # +16, line 4
  55 c0 a9 ad 73 7f 00 00  05 00 00 00  00 00 00 00  68 6f 74 2e 73 72 63 00  # +21, line 5
  59 c0 a9 ad 73 7f 00 00  06 00 00 00  00 00 00 00  68 6f 74 2e 73 72 63 00  # +25, line 6
  5c c0 a9 ad 73 7f 00 00  07 00 00 00  00 00 00 00  68 6f 74 2e 73 72 63 00  # +28, line 7
  61 c0 a9 ad 73 7f 00 00  09 00 00 00  00 00 00 00  68 6f 74 2e 73 72 63 00  # +33, line 9
  6c c0 a9 ad 73 7f 00 00  09 00 00 00  00 00 00 00  68 6f 74 2e 73 72 63 00  # +44, the code's end: line 9 again
)";

constexpr std::string_view kEhFrame = R"(
  14 00 00 00  00 00 00 00  # CIE: 20 bytes follow; 0 = a CIE
  01  7a 52 00              # version 1, augmentation "zR"
  01  78  10                # code alignment 1, data alignment -8, return address in column 16
  01  1b                    # one byte of augmentation data: pointers are pc-relative signed 4 bytes
  0c 07 08                  # CFA = rsp + 8
  90 01                     # return address at CFA - 8
  00 00                     # nops
  24 00 00 00  1c 00 00 00  # FDE: 36 bytes follow; its CIE is 28 bytes before this field
  b0 ff ff ff               # pc_begin -80 = -(48 + 32)
  2c 00 00 00               # pc_range 44
  00                        # no augmentation data
  41  0e 10  83 02          # after push rbx: CFA = rsp + 16, rbx at CFA - 16
  42  0e 18  8c 03          # after push r12: CFA = rsp + 24, r12 at CFA - 24
  47  0e b0 01              # after sub rsp, 152: CFA = rsp + 176
  5e  0e 18                 # after add rsp, 152
  42  0e 10                 # after pop r12
  41  0e 08                 # after pop rbx
)";

constexpr std::string_view kEhFrameHdr = R"(
  01 1b 03 3b               # version 1; eh_frame_ptr pcrel sdata4, fde_count udata4, table datarel sdata4
  bc ff ff ff               # eh_frame_ptr -68 = -(64 + 4)
  01 00 00 00               # one FDE
  90 ff ff ff               # its code starts 112 = 48 + 64 bytes before this header
  d8 ff ff ff               # and it lies 40 = 64 - 24 bytes before
)";

constexpr std::string_view kUnwindingHead = R"(
  04 00 00 00              # id CODE_UNWINDING_INFO
  7c 00 00 00              # total_size 124 = 40 + 84
  b5 ba 46 f4 1f 01 00 00  # timestamp
  54 00 00 00 00 00 00 00  # unwinding_size 84
  14 00 00 00 00 00 00 00  # eh_frame_hdr_size 20
)";
constexpr std::string_view kMapped = "54 00 00 00 00 00 00 00";     // mapped_size 84: room behind the code
constexpr std::string_view kNotMapped = "00 00 00 00 00 00 00 00";  // mapped_size 0: none

constexpr std::string_view kCode = R"(
  53  41 54  48 81 ec 98 00 00 00     # push rbx; push r12; sub rsp, 152
  48 89 fb  49 89 f4                  # mov rbx, rdi; mov r12, rsi
  b9 00 10 00 00  ff c9  75 fc        # 16: mov ecx, 4096; 21: dec ecx; jnz 21
  41 ff d4  48 ff cb  75 ef           # 25: call r12; 28: dec rbx; jnz 16
  48 81 c4 98 00 00 00  41 5c  5b  c3 # 33: add rsp, 152; pop r12; pop rbx; ret
)";

constexpr std::string_view kLoadHead = R"(
  00 00 00 00              # id CODE_LOAD
  6f 00 00 00              # total_size 111 = 56 + 11 + 44
  b5 ba 46 f4 1f 01 00 00  # timestamp
  82 35 00 00  82 35 00 00 # pid, tid
  40 c0 a9 ad 73 7f 00 00  # vma
  40 c0 a9 ad 73 7f 00 00  # code_addr
  2c 00 00 00 00 00 00 00  # code_size 44
  01 00 00 00 00 00 00 00  # code_index 1
  6a 69 74 74 65 64 5f 68 6f 74 00  # "jitted_hot"
)";

constexpr std::string_view kClose = R"(
  03 00 00 00              # id CODE_CLOSE
  10 00 00 00              # total_size 16
  06 d2 46 f4 1f 01 00 00  # timestamp
)";

std::string hex_of(std::initializer_list<std::string_view> parts) {
  std::string all;
  for (const std::string_view part : parts) all.append(part).append("\n");
  return to_hex(from_hex(all));
}

constexpr std::uint64_t kOpened = 0x11ff446b8f2;
constexpr std::uint64_t kLoaded = 0x11ff446bab5;
constexpr std::uint64_t kClosed = 0x11ff446d206;

constexpr FrameEvent kFrame[] = {
    {1, FrameEventKind::kPush, 3, 0},        {3, FrameEventKind::kPush, 12, 0},
    {10, FrameEventKind::kAllocate, 0, 152}, {40, FrameEventKind::kFree, 0, 152},
    {42, FrameEventKind::kFree, 0, 8},       {43, FrameEventKind::kFree, 0, 8},
};
constexpr Line kLines[] = {
    {0, 3, 0, "hot.src"},  {16, 4, 0, "hot.src"}, {21, 5, 0, "hot.src"},
    {25, 6, 0, "hot.src"}, {28, 7, 0, "hot.src"}, {33, 9, 0, "hot.src"},
};

class JitdumpBytes : public testing::Test {
 protected:
  JitdumpBytes() {
    load.when_ns = kLoaded;
    load.address = 0x7f73ada9c040;
    load.pid = 13698;
    load.tid = 13698;
    load.bytes = code;
    load.name = "jitted_hot";
    load.lines = kLines;
    load.unwinding.events = kFrame;
    load.unwinding.kind = Unwinding::Kind::kFrameEvents;
    load.index = 1;
    load.room = 88;  // 4 bytes up to the next multiple of 8, and 84 for the tables
  }
  Status put() { return put_group(out, load, 0, written); }
  std::string hex() const { return to_hex(out.view()); }

  const std::vector<std::uint8_t> code = from_hex(kCode);
  CodeLoad load;
  Written written;
  Bytes out;
};

TEST_F(JitdumpBytes, HeaderHasFortyBytes) {
  put_header(out, {13698, kOpened});
  EXPECT_EQ(out.size(), 40u);
  EXPECT_EQ(hex(), hex_of({kHeader}));
}

TEST_F(JitdumpBytes, CloseIsAPrefixAlone) {
  put_close(out, kClosed);
  EXPECT_EQ(hex(), hex_of({kClose}));
}

TEST_F(JitdumpBytes, LoadAloneWhenNothingElseIsKnown) {
  load.lines = {};
  load.unwinding.kind = Unwinding::Kind::kUnknown;
  EXPECT_EQ(put(), Status::kOk);
  EXPECT_EQ(hex(), hex_of({kLoadHead, kCode}));
}

TEST_F(JitdumpBytes, DebugInfoPrecedesItsLoad) {
  load.unwinding.kind = Unwinding::Kind::kUnknown;
  EXPECT_EQ(put(), Status::kOk);
  EXPECT_EQ(hex(), hex_of({kDebugInfo, kLoadHead, kCode}));
}

TEST_F(JitdumpBytes, UnwindingInfoHasEhFrameFirstAndItsHeaderLast) {
  load.lines = {};
  EXPECT_EQ(put(), Status::kOk);
  EXPECT_EQ(hex(), hex_of({kUnwindingHead, kMapped, kEhFrame, kEhFrameHdr, kLoadHead, kCode}));
  EXPECT_FALSE(written.unwinding_without_room);
}

TEST_F(JitdumpBytes, FramePointersAreAHeaderThatNobodyMaps) {
  load.lines = {};
  load.unwinding = {.kind = Unwinding::Kind::kFramePointers, .events = {}, .ready = {}};
  EXPECT_EQ(put(), Status::kOk);
  EXPECT_EQ(hex(), hex_of({R"(
    04 00 00 00              # id CODE_UNWINDING_INFO
    3c 00 00 00              # total_size 60 = 40 + 20
    b5 ba 46 f4 1f 01 00 00  # timestamp
    14 00 00 00 00 00 00 00  # unwinding_size 20
    14 00 00 00 00 00 00 00  # eh_frame_hdr_size 20
    00 00 00 00 00 00 00 00  # mapped_size 0
    01 1b 03 3b  fc ff ff ff
    00 00 00 00              # fde_count 0
    00 00 00 00 00 00 00 00)",
                           kLoadHead, kCode}));
  EXPECT_FALSE(written.unwinding_without_room);
}

TEST_F(JitdumpBytes, OneByteOfRoomTooFewMapsNothing) {
  load.lines = {};
  load.room = 87;
  EXPECT_EQ(put(), Status::kOk);
  EXPECT_EQ(hex(), hex_of({kUnwindingHead, kNotMapped, kEhFrame, kEhFrameHdr, kLoadHead, kCode}));
  EXPECT_TRUE(written.unwinding_without_room);
}

TEST_F(JitdumpBytes, CompleteFileOfOneFunctionWithLinesAndUnwinding) {
  put_header(out, {13698, kOpened});
  EXPECT_EQ(put(), Status::kOk);
  put_close(out, kClosed);
  EXPECT_EQ(out.size(), 491u);
  EXPECT_EQ(hex(), hex_of({kHeader, kDebugInfo, kUnwindingHead, kMapped, kEhFrame, kEhFrameHdr, kLoadHead,
                           kCode, kClose}));
}

TEST_F(JitdumpBytes, BadFrameEventsLeaveOutTheUnwindingAlone) {
  constexpr FrameEvent kAboveEntry[] = {{1, FrameEventKind::kFree, 0, 8}};
  load.unwinding.events = kAboveEntry;
  EXPECT_EQ(put(), Status::kUnwindingLeftOut);
  EXPECT_EQ(hex(), hex_of({kDebugInfo, kLoadHead, kCode}));
  EXPECT_TRUE(written.unwinding_left_out);
  EXPECT_FALSE(written.lines_left_out);
}

TEST_F(JitdumpBytes, RowsOutsideTheCodeLeaveOutTheLinesAlone) {
  constexpr Line kOutside[] = {{0, 3, 0, "hot.src"}, {44, 4, 0, "hot.src"}};
  load.lines = kOutside;
  EXPECT_EQ(put(), Status::kLinesLeftOut);
  EXPECT_EQ(hex(), hex_of({kUnwindingHead, kMapped, kEhFrame, kEhFrameHdr, kLoadHead, kCode}));
  EXPECT_TRUE(written.lines_left_out);
  EXPECT_FALSE(written.unwinding_left_out);
}

TEST(JitdumpHeaderBytes, CounterStampsAreFlagBitZero) {
  Bytes out;
  put_header(out, {.pid = 1, .start_ns = 2, .counts_ticks = true});
  EXPECT_EQ(to_hex(out.view().subspan(32)), hex_of({"01 00 00 00 00 00 00 00"}));
}

TEST(EhFrameBytes, PopPutsTheRegisterBack) {
  constexpr FrameEvent kPopped[] = {
      {1, FrameEventKind::kPush, 3, 0},        {3, FrameEventKind::kPush, 12, 0},
      {10, FrameEventKind::kAllocate, 0, 152}, {40, FrameEventKind::kFree, 0, 152},
      {42, FrameEventKind::kPop, 12, 0},       {43, FrameEventKind::kPop, 3, 0},
  };
  Bytes out;
  unwind::BlobSizes sizes;
  ASSERT_EQ(unwind::put_blob(out, Unwinding::from_events(kPopped), 44, 0, sizes), Status::kOk);
  EXPECT_EQ(sizes.eh_frame, 72u);
  EXPECT_EQ(to_hex(out.view().subspan(24, 48)), hex_of({R"(
    2c 00 00 00  1c 00 00 00  b0 ff ff ff  2c 00 00 00  00
    41  0e 10  83 02
    42  0e 18  8c 03
    47  0e b0 01
    5e  0e 18
    42  0e 10  cc    # r12 is in its register again
    41  0e 08  c3    # and rbx
    00 00 00 00 00 00)"}));
}

TEST(EhFrameBytes, FramePointerChangesTheCfaRegisterAlone) {
  constexpr FrameEvent kFramed[] = {
      {1, FrameEventKind::kPush, 6, 0},         // push rbp
      {4, FrameEventKind::kSetFrame, 6, 0},     // mov rbp, rsp
      {6, FrameEventKind::kPush, 3, 0},         // push rbx
      {300, FrameEventKind::kAllocate, 0, 64},  // sub rsp, 64: nothing to say
      {70000, FrameEventKind::kRestore, 3, 0},  // mov rbx, [rbp-8]
      {70001, FrameEventKind::kRestore, 6, 0},  // leave
      {70001, FrameEventKind::kDropFrame, 0, 8},
  };
  Bytes out;
  unwind::BlobSizes sizes;
  ASSERT_EQ(unwind::put_blob(out, Unwinding::from_events(kFramed), 70002, 0, sizes), Status::kOk);
  EXPECT_EQ(to_hex(out.view().subspan(24 + 17, sizes.eh_frame - 24 - 17)), hex_of({R"(
    41  0e 10  86 02               # CFA = rsp + 16, rbp at CFA - 16
    43  0d 06                      # CFA = rbp + 16
    42  83 03                      # rbx at CFA - 24
    04 6a 11 01 00  c3             # 69994 bytes on
    41  0c 07 08  c6               # CFA = rsp + 8
    00)"}));
}

}  // namespace
}  // namespace jitquill::jitdump
