// The bytes of .eh_frame sections, spelled from DWARF 5 and the LSB, not from our writer's tables.
#include "writer/unwind/eh_frame.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/hex.hpp"
#include "writer/unwind/blob.hpp"

namespace jitquill::unwind {
namespace {

using tests::from_hex;
using tests::to_hex;
using K = FrameEventKind;

std::string hex(std::string_view text) {
  return to_hex(from_hex(text));
}

// The instructions of the one FDE, its padding included: behind the CIE's 24 bytes and the FDE's 17.
std::string rows_of(std::vector<FrameEvent> events, std::uint64_t code_size) {
  Bytes out;
  BlobSizes sizes;
  EXPECT_EQ(put_blob(out, Unwinding::from_events(events), code_size, 0, sizes), Status::kOk);
  return to_hex(out.view().subspan(24 + 17, sizes.eh_frame - 24 - 17));
}

}  // namespace

TEST(FrameInMemoryBytes, TheCfaIsAnExpressionWhileTheWordHoldsIt) {
  EXPECT_EQ(rows_of({{1, K::kPush, 3, 0},             // push rbx; mov r10, rsp
                     {8, K::kSetFrame, 10, 0},        // and rsp, -64; sub rsp, 128
                     {20, K::kFrameInMemory, 0, 72},  // mov [rsp + 72], r10
                     {40, K::kDropFrame, 0, 16},      // mov rsp, [rsp + 72]
                     {41, K::kPop, 3, 0}},            // pop rbx; ret
                    42),
            hex(R"(
    41  0e 10  83 02                 # CFA = rsp + 16, rbx at CFA - 16
    47  0d 0a                        # CFA = r10 + 16
    4c  0f 06  77 c8 00  06  23 10   # def_cfa_expression: breg7 72; deref; plus_uconst 16
    54  0c 07 10                     # CFA = rsp + 16
    41  0e 08  c3                    # CFA = rsp + 8, rbx in its register
    00 00 00 00 00 00)"));
}

TEST(FrameInMemoryBytes, ShortAndLongOperands) {
  EXPECT_EQ(rows_of({{3, K::kSetFrame, 6, 0}, {9, K::kFrameInMemory, 0, 0}}, 10), hex(R"(
    43  0d 06
    46  0f 05  77 00  06  23 08      # the word at the stack pointer itself
    00 00 00 00)"));
  EXPECT_EQ(
      rows_of({{3, K::kAllocate, 0, 4096}, {6, K::kSetFrame, 6, 0}, {9, K::kFrameInMemory, 0, 5000}}, 10),
      hex(R"(
    43  0e 88 20
    43  0d 06
    43  0f 07  77 88 27  06  23 88 20
    00 00 00 00 00 00)"));
}

TEST(FrameInMemoryBytes, ComesBackBehindAnEarlyReturn) {
  EXPECT_EQ(rows_of({{3, K::kSetFrame, 10, 0},
                     {9, K::kFrameInMemory, 0, 8},
                     {20, K::kRemember, 0, 0},
                     {20, K::kDropFrame, 0, 8},
                     {21, K::kRecall, 0, 0},
                     {30, K::kDropFrame, 0, 8}},
                    31),
            hex(R"(
    43  0d 0a
    46  0f 05  77 08  06  23 08
    4b  0c 07 08
    41  0f 05  77 08  06  23 08      # in full again
    49  0c 07 08
    00 00 00 00)"));
}

TEST(FramePointersBytes, AreAHeaderOfTwentyBytesAlone) {
  Bytes out;
  BlobSizes put, measured;
  const Unwinding kept{.kind = Unwinding::Kind::kFramePointers, .events = {}, .ready = {}};
  ASSERT_EQ(put_blob(out, kept, 44, 0, put), Status::kOk);
  EXPECT_EQ(to_hex(out.view()), hex(R"(
    01 1b 03 3b               # version 1; eh_frame_ptr pcrel sdata4, fde_count udata4, table datarel sdata4
    fc ff ff ff               # eh_frame_ptr -4: .eh_frame is empty and ends here
    00 00 00 00               # no FDE
    00 00 00 00  00 00 00 00  # room of one row)"));
  EXPECT_EQ(put.eh_frame, 0u);
  EXPECT_EQ(put.eh_frame_hdr, 20u);
  ASSERT_EQ(measure_blob(kept, 44, true, measured), Status::kOk);
  EXPECT_EQ(measured.total(), 20u);
}

TEST(AbsoluteSectionBytes, FunctionsShareACieAndNameTheirAddress) {
  constexpr FrameEvent kPush[] = {{1, K::kPush, 3, 0}};
  Bytes out;
  out.u32(0xFFFFFFFF);  // what was put before is no part of the section
  EhFrameSection section(out, PointerForm::kAbsolute8);
  ASSERT_EQ(section.add(Unwinding::from_events(kPush), 0x7f73ada9c040, 44), Status::kOk);
  EXPECT_EQ(section.last_fde(), 24u);
  ASSERT_EQ(section.add(Unwinding::from_events({}), -0x1000, 0x100000002c), Status::kOk);
  EXPECT_EQ(section.last_fde(), 56u);
  EXPECT_EQ(section.size(), 88u);
  EXPECT_EQ(to_hex(out.view().subspan(4)), hex(R"(
    14 00 00 00  00 00 00 00  01  7a 52 00  01 78 10
    01  00                           # pointers are absolute, 8 bytes
    0c 07 08  90 01  00 00
    1c 00 00 00  1c 00 00 00         # FDE: 28 bytes follow; its CIE is 28 bytes before this field
    40 c0 a9 ad 73 7f 00 00          # pc_begin
    2c 00 00 00 00 00 00 00          # pc_range
    00  41 0e 10 83 02  00 00
    1c 00 00 00  3c 00 00 00         # the same CIE, 60 bytes before
    00 f0 ff ff ff ff ff ff          # as an address it is the upper half's
    2c 00 00 00 10 00 00 00          # larger than 4 GiB
    00  00 00 00 00 00 00 00)"));
}

TEST(ReadyBytes, KeepTheirOwnCie) {
  const std::vector<std::uint8_t> initial = from_hex("0c 07 08 90 01");
  const std::vector<std::uint8_t> rows = from_hex("42 0e 10");
  Unwinding ready{.kind = Unwinding::Kind::kReady, .events = {}, .ready = {}};
  ready.ready = {.code_alignment = 2,
                 .data_alignment = -4,
                 .return_address = 30,
                 .is_signal_frame = true,
                 .initial = initial,
                 .rows = rows};
  Bytes out;
  EhFrameSection section(out, PointerForm::kRelative4);
  ASSERT_EQ(section.add(ready, -48, 44), Status::kOk);
  ASSERT_EQ(section.add(Unwinding::from_events({}), -96, 44), Status::kOk);
  EXPECT_EQ(to_hex(out.view()), hex(R"(
    14 00 00 00  00 00 00 00  01  7a 52 53 00  # "zRS": a signal frame
    02 7c 1e                         # code alignment 2, data alignment -4, return address in column 30
    01  1b
    0c 07 08 90 01  00
    14 00 00 00  1c 00 00 00
    b0 ff ff ff                      # pc_begin -80 = -(48 + 32)
    2c 00 00 00  00
    42 0e 10  00 00 00 00
    14 00 00 00  00 00 00 00  01  7a 52 00  01 78 10  01 1b  0c 07 08 90 01  00 00
    14 00 00 00  1c 00 00 00
    50 ff ff ff                      # pc_begin -176 = -(96 + 80)
    2c 00 00 00  00
    00 00 00 00 00 00 00)"));
}

}  // namespace jitquill::unwind
