#include "agent/drain/pairing.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/drain/paired.hpp"

namespace jitquill::drain {
namespace {

using Kind = lanes::RecordKind;

constexpr std::uint64_t kTop = 0x7ffd'0000'0000;

class PairingOf : public testing::Test, public tests::Paired {
 protected:
  // "+f" entered, "-f" returned, "t" "u" "T" "P" "O" for the other ends; f counts from a, then its depth.
  std::string story() {
    std::string words;
    for (const RunEvent& event : events()) {
      if (event.kind == RunEventKind::kEnter)
        words += "+";
      else if (event.kind == RunEventKind::kLeave)
        words += "?-tuTPO"[static_cast<int>(event.end)];
      else
        continue;
      words += static_cast<char>('a' + event.function);
      words += std::to_string(event.depth) + " ";
    }
    return words;
  }
};

TEST_F(PairingOf, CallsAndReturns) {
  enter(10, kTop, 1);
  enter(20, kTop - 64, 2);
  leave(25, kTop - 64);
  leave(50, kTop);
  EXPECT_EQ(story(), "+a0 +b1 -b1 -a0 ");
  const auto& all = events();
  EXPECT_EQ(all[2].when_ns, 25u);
  EXPECT_EQ(all[2].since_ns, 20u);
  EXPECT_EQ(all[2].amount, 0u);
  EXPECT_EQ(all[3].since_ns, 10u);
  EXPECT_EQ(all[3].amount, 5u);
}

// gcc puts return addresses 8 bytes apart.
// As an interpreter that never tells of frames which errors removed.
TEST_F(PairingOf, FramesThatNeverEndHaveABound) {
  constexpr std::uint32_t kMore = 1000;
  std::vector<Taken> records;
  for (std::uint32_t i = 0; i < Pairing::kMostOpen + kMore; ++i)
    records.push_back({i + 1, 1, i, 0, Kind::kEnterKey});
  take(std::move(records));
  EXPECT_EQ(pairing.open(), Pairing::kMostOpen);
  EXPECT_EQ(pairing.unrecorded(), kMore);
  key(Kind::kLeaveKey, 2'000'000'000, 0);  // the first of them: all go
  EXPECT_EQ(pairing.open(), 0u);
  EXPECT_EQ(events().size(), 2u * Pairing::kMostOpen);
}

// Each would look at all that is open: minutes.
TEST_F(PairingOf, EndsThatWereNeverEnteredCostLittle) {
  constexpr std::uint32_t kOpen = 900'000, kWrong = 1'000'000;
  std::vector<Taken> records;
  for (std::uint32_t i = 0; i < kOpen + kWrong; ++i)
    records.push_back({i + 1, 1, i, 0, i < kOpen ? Kind::kEnterKey : Kind::kLeaveKey});
  take(std::move(records));
  EXPECT_EQ(pairing.unpaired(), kWrong);
  EXPECT_EQ(pairing.open(), kOpen);
}

TEST_F(PairingOf, TwoSlotsSideBySideAreTwo) {
  enter(1, kTop, 1);
  enter(2, kTop - 8, 2);
  leave(3, kTop - 8);
  leave(4, kTop);
  EXPECT_EQ(story(), "+a0 +b1 -b1 -a0 ");
}

TEST_F(PairingOf, AnEntryEndsWhatAnExceptionRemoved) {
  enter(1, kTop, 1);
  enter(2, kTop - 64, 2);
  enter(3, kTop - 128, 3);
  enter(9, kTop - 64, 4);  // from the frame that caught it
  leave(10, kTop - 64);
  leave(11, kTop);
  EXPECT_EQ(story(), "+a0 +b1 +c2 uc2 ub1 +d1 -d1 -a0 ");
  EXPECT_EQ(events()[3].when_ns, 9u);
}

TEST_F(PairingOf, AnExitEndsWhatALongjmpRemoved) {
  enter(1, kTop, 1);
  enter(2, kTop - 64, 2);
  enter(3, kTop - 128, 3);
  leave(9, kTop);
  EXPECT_EQ(story(), "+a0 +b1 +c2 uc2 ub1 -a0 ");
}

TEST_F(PairingOf, ATailCallTakesThePlace) {
  enter(1, kTop, 1);
  for (std::uint64_t i = 0; i < 1'000'000; ++i) {
    put(Kind::kTail, 2 * i + 2, kTop);
    enter(2 * i + 3, kTop, 1);
  }
  leave(3'000'000, kTop);
  ASSERT_EQ(events().size(), 2'000'002u);
  EXPECT_EQ(events()[1].end, FrameEnd::kTailCalled);
  EXPECT_EQ(events().back().end, FrameEnd::kReturned);
  EXPECT_EQ(events().back().depth, 0u);
  EXPECT_EQ(pairing.open(), 0u);
}

TEST_F(PairingOf, AnExitWithoutEntryIsCountedAndChangesNothing) {
  leave(1, kTop);
  enter(2, kTop - 64, 1);
  leave(3, kTop);        // tracing began inside it
  leave(4, kTop - 128);  // the second return of a setjmp
  put(Kind::kTail, 5, kTop - 72);
  key(Kind::kLeaveKey, 6, 77);
  leave(7, kTop - 64);
  EXPECT_EQ(story(), "+a0 -a0 ");
  EXPECT_EQ(pairing.unpaired(), 5u);
}

TEST_F(PairingOf, TimesNeverRunBackwards) {
  enter(10, kTop, 1);
  enter(5, kTop - 64, 2);
  leave(7, kTop - 64);
  leave(12, kTop);
  for (const RunEvent& event : events()) EXPECT_GE(event.when_ns, 10u);
}

TEST_F(PairingOf, AMillionFramesAreOpenedAndRemoved) {
  constexpr std::uint64_t kDeep = 1'000'000;
  learn(kTop - (std::uint64_t{1} << 29), kTop + 8);
  for (std::uint64_t i = 0; i < kDeep; ++i) enter(i, kTop - 64 * i, 1);
  EXPECT_EQ(pairing.open(), kDeep);
  for (std::uint64_t i = 0; i < 1'000; ++i)
    leave(kDeep + i, kTop - 64 * i + 8);  // none of these: no search is long
  leave(2 * kDeep, kTop);
  EXPECT_EQ(events().size(), 2 * kDeep);
  EXPECT_EQ(pairing.open(), 0u);
  EXPECT_EQ(pairing.unpaired(), 1'000u);
}

// -finstrument-functions: f's call stands in its frame, and g was inlined into it. f's exit is a jump, which
// stands at the slot.
TEST_F(PairingOf, CallsOfCompilersStandWithinTheirFrames) {
  within(Kind::kEnterWithin, 1, kTop - 64, 0x1000);
  within(Kind::kEnterWithin, 2, kTop - 64, 0x2000);
  within(Kind::kEnterWithin, 3, kTop - 128, 0x3000);
  within(Kind::kLeaveWithin, 4, kTop - 112, 0x3000);
  within(Kind::kLeaveWithin, 5, kTop - 64, 0x2000);
  within(Kind::kLeaveWithin, 6, kTop - 8, 0x1000);
  EXPECT_EQ(story(), "+a0 +b1 +c2 -c2 -b1 -a0 ");
  EXPECT_EQ(pairing.unpaired(), 0u);
}

TEST_F(PairingOf, AnInlinedRecursionEndsFromTheTop) {
  within(Kind::kEnterWithin, 1, kTop, 0x1000);
  within(Kind::kEnterWithin, 2, kTop, 0x1000);
  within(Kind::kLeaveWithin, 3, kTop, 0x1000);
  within(Kind::kLeaveWithin, 4, kTop, 0x1000);
  EXPECT_EQ(story(), "+a0 +a1 -a1 -a0 ");
}

// clang's functions say nothing when an exception removes them.
// As alloca() does.
TEST_F(PairingOf, AFrameMayGrowBeforeItsExit) {
  within(Kind::kEnterWithin, 1, kTop, 0x1000);
  within(Kind::kEnterWithin, 2, kTop - 64, 0x2000);
  within(Kind::kEnterWithin, 3, kTop - 1024, 0x3000);  // unwound
  within(Kind::kLeaveWithin, 4, kTop - 512, 0x2000);
  within(Kind::kLeaveWithin, 5, kTop, 0x1000);
  EXPECT_EQ(story(), "+a0 +b1 +c2 uc2 -b1 -a0 ");
  EXPECT_EQ(pairing.unpaired(), 0u);
}

TEST_F(PairingOf, AnExitWithinEndsWhatWasRemovedAboveIt) {
  within(Kind::kEnterWithin, 1, kTop, 0x1000);
  within(Kind::kEnterWithin, 2, kTop - 64, 0x1000);   // a recursion, and
  within(Kind::kEnterWithin, 3, kTop - 128, 0x2000);  // a longjmp out of it
  within(Kind::kLeaveWithin, 4, kTop + 8, 0x1000);
  EXPECT_EQ(story(), "+a0 +a1 +b2 ub2 ua1 -a0 ");
  within(Kind::kEnterWithin, 5, kTop - 64, 0x2000);
  within(Kind::kLeaveWithin, 6, kTop, 0x3000);  // tracing began inside it
  EXPECT_EQ(pairing.unpaired(), 1u);
  EXPECT_EQ(pairing.open(), 0u);
}

// A stackless interpreter: its frames have no slots of their own.
TEST_F(PairingOf, AnInterpretersFramesPairByKey) {
  enter(1, kTop, 1);
  key(Kind::kEnterKey, 2, 7, 2);
  key(Kind::kEnterKey, 3, 7, 3);  // the same key: last in, first out
  key(Kind::kLeaveKey, 4, 7);
  key(Kind::kEnterKey, 5, 8, 4);
  key(Kind::kEnterKey, 6, 9, 5);
  key(Kind::kLeaveKey, 7, 7);  // those above went with it
  leave(8, kTop);
  EXPECT_EQ(story(), "+a0 +b1 +c2 -c2 +d2 +e3 ue3 ud2 -b1 -a0 ");
}

TEST_F(PairingOf, InterpretedAndNativeFramesStandAmongEachOther) {
  key(Kind::kEnterKey, 1, 5, 1);
  enter(2, kTop, 2);
  key(Kind::kEnterKey, 3, 6, 3);
  enter(4, kTop - 64, 4);
  leave(5, kTop);  // removes both above it
  key(Kind::kLeaveKey, 6, 5);
  EXPECT_EQ(story(), "+a0 +b1 +c2 +d3 ud3 uc2 -b1 -a0 ");
  EXPECT_EQ(events()[6].stack, 0u);
  EXPECT_EQ(events()[6].amount, 2u);
  EXPECT_EQ(events()[7].amount, 3u);
}

TEST_F(PairingOf, AFrameThatAnInterpreterLeftOnAnotherStackIsFound) {
  enter(1, kTop, 1);
  key(Kind::kEnterKey, 2, 5, 2);
  enter(3, kTop - 0x100000, 3);  // a fiber
  key(Kind::kLeaveKey, 4, 5);
  leave(5, kTop - 0x100000);
  leave(6, kTop);
  EXPECT_EQ(story(), "+a0 +b1 +c2 -b1 -c2 -a0 ");
}

TEST_F(PairingOf, FibersThatNobodyToldOfAreToldApart) {
  const std::uint64_t other = kTop - 0x10000;  // 64 KiB
  enter(1, kTop, 1);
  enter(2, other, 2);
  enter(3, kTop - 64, 3);  // above the other's frames, which stay
  leave(4, kTop - 64);
  enter(5, other - 64, 4);
  leave(6, kTop);
  leave(7, other - 64);
  leave(8, other);
  EXPECT_EQ(story(), "+a0 +b1 +c2 -c2 +d2 -a0 -d2 -b1 ");
  EXPECT_EQ(events()[0].stack, 0u);
  EXPECT_EQ(events()[1].stack, 1u);
  EXPECT_EQ(events()[6].stack, 1u);
}

class SignalStackAt : public PairingOf, public testing::WithParamInterface<std::int64_t> {};

TEST_P(SignalStackAt, AHandlersFramesRemoveNothing) {
  const std::uint64_t signals = kTop + static_cast<std::uint64_t>(GetParam());
  learn(signals - 0x2000, signals, drain::StackKind::kSignals);
  learn(kTop - 0x800000, kTop + 0x10000);
  enter(10, kTop, 1);
  enter(20, kTop - 0x40, 2);
  enter(30, signals - 16, 3);  // interrupts b
  enter(40, signals - 64, 4);
  leave(50, signals - 64);
  leave(60, signals - 16);
  leave(70, kTop - 0x40);
  leave(80, kTop);
  EXPECT_EQ(story(), "+a0 +b1 +c2 +d3 -d3 -c2 -b1 -a0 ");
  EXPECT_EQ(events()[6].amount, 30u);  // the handler's time is not b's own
  EXPECT_EQ(events()[7].amount, 50u);
  EXPECT_NE(events()[2].stack, events()[1].stack);
}
TEST_P(SignalStackAt, AHandlerThatJumpedOutIsOver) {
  const std::uint64_t signals = kTop + static_cast<std::uint64_t>(GetParam());
  learn(kTop - 0x800000, kTop + 0x10000);
  learn(signals - 0x2000, signals, drain::StackKind::kSignals);
  enter(10, kTop, 1);
  enter(20, kTop - 0x40, 2);
  enter(30, signals - 16, 3);
  enter(90, kTop - 0x40, 4);
  leave(95, kTop - 0x40);
  leave(99, kTop);
  EXPECT_EQ(story(), "+a0 +b1 +c2 uc2 ub1 +d1 -d1 -a0 ");
}
// Below, above, and an array on the stack itself, above what runs and below it.
INSTANTIATE_TEST_SUITE_P(Places, SignalStackAt, testing::Values(-0x900000, 0x900000, 0x8000, -0x400000));

// Arrays on the thread's own stack, told before its bounds and after.
TEST_F(PairingOf, FibersInTheThreadsStackAreStacksOfTheirOwn) {
  const auto fiber = [](unsigned i) { return kTop - 0x100000 + i * 0x10000; };
  const auto tell = [&](unsigned i) { learn(fiber(i) - 0x8000, fiber(i)); };
  enter(1, kTop, 1);
  for (unsigned i = 0; i < 3; ++i) tell(i);
  learn(kTop - 0x800000, kTop + 0x10000, drain::StackKind::kOwn);
  for (unsigned i = 3; i < 6; ++i) tell(i);
  for (unsigned i = 0; i < 6; ++i) enter(10 + i, fiber(i) - 16, 2 + i);
  enter(20, kTop - 0x40, 8);      // above all of them
  enter(21, fiber(3) + 0x40, 9);  // its own, between two
  for (const unsigned i : {1u, 0u, 5u, 4u, 2u, 3u}) leave(30 + i, fiber(i) - 16);
  leave(40, fiber(3) + 0x40);
  leave(41, kTop - 0x40);
  leave(42, kTop);
  EXPECT_EQ(story(), "+a0 +b1 +c2 +d3 +e4 +f5 +g6 +h7 +i8 -c2 -b1 -g6 -f5 -d3 -e4 -i8 -h7 -a0 ");
  EXPECT_EQ(events()[7].stack, 0u);
  EXPECT_EQ(events()[8].stack, 0u);
  EXPECT_EQ(pairing.unpaired(), 0u);
}

// What libc keeps at its top is part of it, or is not.
TEST_F(PairingOf, TheThreadsOwnStackStaysThoughItIsToldAsAFibers) {
  learn(kTop - 0x10000, kTop + 8, drain::StackKind::kOwn);
  enter(1, kTop, 1);
  learn(kTop - 0x10000, kTop + 0x1000);
  enter(2, kTop - 64, 2);
  learn(kTop - 0x10000, kTop + 8, drain::StackKind::kOwn);
  leave(3, kTop - 64);
  leave(4, kTop);
  EXPECT_EQ(story(), "+a0 +b1 -b1 -a0 ");
}

TEST_F(PairingOf, ToldBoundsTakeInWhatWasSeen) {
  enter(1, kTop, 1);
  enter(2, kTop - 0x10000, 2);  // 64 KiB in one frame: seen as another stack
  learn(kTop - 0x800000, kTop + 8);
  leave(3, kTop);  // removes it
  EXPECT_EQ(story(), "+a0 +b1 ub1 -a0 ");
}

TEST_F(PairingOf, AStackWhoseMemoryIsUsedAgainIsAnother) {
  learn(kTop - 0x10000, kTop + 8);
  enter(1, kTop, 1);
  learn(kTop - 0x8000, kTop + 0x8000);
  enter(2, kTop, 2);
  leave(3, kTop);
  EXPECT_EQ(story(), "+a0 ua0 +b0 -b0 ");
  EXPECT_NE(events()[0].stack, events()[2].stack);
}

TEST_F(PairingOf, TheThreadsStackGrowsDownwards) {
  learn(kTop - 0x1000, kTop + 8);
  enter(1, kTop, 1);
  learn(kTop - 0x100000, kTop + 8);
  enter(2, kTop - 0x90000, 2);
  leave(3, kTop);
  EXPECT_EQ(story(), "+a0 +b1 ub1 -a0 ");
}

// 2 GiB of slots are a circle.
TEST_F(PairingOf, AStackMayLieAcrossTheEndOfTheSlots) {
  const std::uint64_t zero = std::uint64_t{5} << 31;
  learn(zero - 0x1000, zero + 0x1000);
  enter(1, zero + 64, 1);
  enter(2, zero - 64, 2);
  enter(3, zero + 8, 3);  // removes what is below
  leave(4, zero + 64);
  EXPECT_EQ(story(), "+a0 +b1 ub1 +c1 uc1 -a0 ");
}

// They run on the parent's stack, and it waits.
TEST_F(PairingOf, AVforkChildsFramesEndWithTheParentsNextEvent) {
  enter(1, kTop, 1);
  enter(2, kTop - 64, 2);  // the child, which ends in it
  enter(3, kTop - 128, 3);
  leave(9, kTop);
  EXPECT_EQ(story(), "+a0 +b1 +c2 uc2 ub1 -a0 ");
}

TEST_F(PairingOf, AThreadsEndClosesAll) {
  pairing.begin(1, around);
  enter(1, kTop, 1);
  enter(2, kTop - 0x100000, 2);
  key(Kind::kEnterKey, 3, 5, 3);
  pairing.end(FrameEnd::kThreadEnd, 9, around);
  EXPECT_EQ(story(), "+a0 +b1 +c2 Tc2 Tb1 Ta0 ");
  EXPECT_EQ(events().front().kind, RunEventKind::kThreadBegin);
  EXPECT_EQ(events().back().kind, RunEventKind::kThreadEnd);
  EXPECT_EQ(pairing.open(), 0u);
}

TEST_F(PairingOf, ALossIsPlaced) {
  enter(10, kTop, 1);
  take({{20, 15, 4, 0, kLost}});
  const RunEvent& lost = events().back();
  EXPECT_EQ(lost.kind, RunEventKind::kLost);
  EXPECT_EQ(lost.since_ns, 15u);
  EXPECT_EQ(lost.when_ns, 20u);
  EXPECT_EQ(lost.amount, 4u);
}

}  // namespace
}  // namespace jitquill::drain
