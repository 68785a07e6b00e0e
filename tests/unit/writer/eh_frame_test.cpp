// The unwinding tables, read by libdw and compared with what really happened.
#include "writer/unwind/blob.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "tests/unit/writer/cfi_reader.hpp"
#include "tests/unit/writer/frame_machine.hpp"
#include "writer/unwind/frame_walk.hpp"

namespace jitquill::unwind {
namespace {

using tests::CfiReader;
using tests::FrameMachine;
using K = FrameEventKind;

TEST(EhFrame, LibdwFindsTheCallersRegistersAtEveryInstructionOfRandomFunctions) {
  std::size_t moments = 0, moments_in_memory = 0;
  for (std::uint32_t seed = 1; seed <= 500; ++seed) {
    SCOPED_TRACE(seed);
    FrameMachine machine(seed);
    machine.run();
    Bytes out;
    BlobSizes sizes;
    ASSERT_EQ(put_blob(out, Unwinding::from_events(machine.events()), machine.code_size(), 0, sizes),
              Status::kOk);
    const CfiReader reader(out.view(), sizes, machine.code_size());
    for (const FrameMachine::Moment& moment : machine.moments()) {
      for (const std::uint32_t offset : {moment.offset, moment.end - 1}) {
        SCOPED_TRACE(offset);
        const auto caller =
            reader.unwind(offset, {moment.registers, [&](std::uint64_t at) { return moment.load(at); }});
        ASSERT_TRUE(caller.has_value());
        ASSERT_EQ(caller->cfa, machine.caller_sp());
        for (const std::uint8_t reg : tests::kCalleeSaved)
          ASSERT_EQ(caller->registers[reg], machine.caller()[reg]) << "register " << int{reg};
        ASSERT_EQ(caller->registers[kReturnAddress], machine.caller()[kReturnAddress]);
        ++moments;
        if (const auto rule = reader.cfa_rule(offset); rule && rule->word) ++moments_in_memory;
      }
    }
  }
  EXPECT_GT(moments, 10'000u);
  EXPECT_GT(moments_in_memory, 1'000u);
}

TEST(EhFrame, MeasureTellsTheSizesThatPutGives) {
  for (std::uint32_t seed = 1; seed <= 500; ++seed) {
    SCOPED_TRACE(seed);
    FrameMachine machine(seed);
    machine.run();
    Bytes out;
    BlobSizes measured, put;
    ASSERT_EQ(measure_blob(Unwinding::from_events(machine.events()), machine.code_size(), false, measured),
              Status::kOk);
    ASSERT_EQ(put_blob(out, Unwinding::from_events(machine.events()), machine.code_size(), 0, put),
              Status::kOk);
    EXPECT_EQ(out.size(), measured.total());
    EXPECT_EQ(put.eh_frame, measured.eh_frame);
    EXPECT_EQ(measured.eh_frame % 8, 0u);
  }
}

TEST(EhFrame, LeafHasTheCieRowAlone) {
  Bytes out;
  BlobSizes sizes;
  ASSERT_EQ(put_blob(out, Unwinding::from_events({}), 1, 0, sizes), Status::kOk);
  EXPECT_EQ(sizes.total(), 24u + 24u + 20u);
  const CfiReader reader(out.view(), sizes, 1);
  tests::Snapshot now{{}, [](std::uint64_t) { return 0; }};
  now.registers[kStackPointer] = 1000;
  EXPECT_EQ(reader.unwind(0, now)->cfa, 1008u);
  EXPECT_FALSE(reader.unwind(1, now).has_value());
}

TEST(EhFrame, BadEventsLeaveTheBufferAsItWas) {
  constexpr FrameEvent kBad[] = {{1, K::kPush, 3, 0}, {2, K::kPop, 12, 0}};
  Bytes out;
  out.u8(1);
  BlobSizes sizes;
  EXPECT_EQ(put_blob(out, Unwinding::from_events(kBad), 10, 0, sizes), Status::kBadFrame);
  EXPECT_EQ(out.size(), 1u);
}

TEST(EhFrame, TablesTwoGigabytesAwayAreTooFar) {
  BlobSizes sizes;
  constexpr std::uint64_t kBlob = 24 + 24 + 20;
  constexpr std::uint64_t kLargest = (std::numeric_limits<std::int32_t>::max() - kBlob) / 8 * 8;
  EXPECT_EQ(measure_blob(Unwinding::from_events({}), kLargest, false, sizes), Status::kOk);
  EXPECT_EQ(measure_blob(Unwinding::from_events({}), kLargest + 1, false, sizes), Status::kTooLarge);
  EXPECT_EQ(measure_blob(Unwinding::from_events({}), std::numeric_limits<std::uint64_t>::max(), false, sizes),
            Status::kTooLarge);
}

}  // namespace
}  // namespace jitquill::unwind
