#include "writer/unwind/frame_walk.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "writer/unwind/blob.hpp"

namespace jitquill::unwind {
namespace {

using K = FrameEventKind;
using Events = std::vector<FrameEvent>;
constexpr std::uint8_t kRbx = 3, kRbp = 6, kR12 = 12;
constexpr std::uint64_t kCodeSize = 100;

// The state after all events; the last one's status in `status`.
FrameState walk(const Events& events, Status& status) {
  FrameWalk walk(kCodeSize);
  status = Status::kOk;
  for (const FrameEvent& event : events) {
    EXPECT_EQ(status, Status::kOk) << "refused before the last event";
    status = walk.step(event);
  }
  return walk.state();
}
FrameState accepted(const Events& events) {
  Status status = Status::kOk;
  const FrameState state = walk(events, status);
  EXPECT_EQ(status, Status::kOk);
  return state;
}
// The last event is refused and changes nothing.
void expect_refused(Events events) {
  Status status = Status::kOk;
  const FrameState after = walk(events, status);
  EXPECT_EQ(status, Status::kBadFrame);
  EXPECT_EQ(check_frame(events, kCodeSize), Status::kBadFrame);
  BlobSizes sizes;
  EXPECT_EQ(measure_blob(Unwinding::from_events(events), kCodeSize, false, sizes), Status::kBadFrame);
  events.pop_back();
  EXPECT_EQ(after, accepted(events));
}
void expect_cfa(const FrameState& state, std::uint8_t reg, std::uint32_t offset, std::uint32_t depth) {
  EXPECT_EQ(state.cfa_register, reg);
  EXPECT_EQ(state.cfa_offset, offset);
  EXPECT_EQ(state.depth, depth);
}

const Events framed_start = {{1, K::kPush, kRbp, 0}, {4, K::kSetFrame, kRbp, 0}, {5, K::kPush, kRbx, 0}};
Events framed(std::initializer_list<FrameEvent> more) {
  Events events = framed_start;
  events.insert(events.end(), more);
  return events;
}

TEST(FrameWalk, RefusesOffsetsThatDescendOrLeaveTheCode) {
  expect_refused({{5, K::kPush, kRbx, 0}, {4, K::kPush, kR12, 0}});
  expect_refused({{101, K::kPush, kRbx, 0}});
  accepted({{5, K::kPush, kRbx, 0}, {5, K::kPush, kR12, 0}, {100, K::kPop, kR12, 0}});
}

TEST(FrameWalk, RefusesUnknownKinds) {
  expect_refused({{1, static_cast<K>(0), 0, 0}});
  expect_refused({{1, static_cast<K>(12), 0, 0}});
}

TEST(FrameWalk, RefusesRegistersThatDoNotExistAndTheStackPointer) {
  for (const K kind : {K::kPush, K::kPop, K::kSave, K::kRestore, K::kSetFrame}) {
    expect_refused({{1, kind, 16, 16}});
    expect_refused({{1, kind, kStackPointer, 16}});
  }
  accepted({{1, K::kAllocate, 255, 8}});
}

TEST(FrameWalk, RefusesAStackPointerAboveItsEntry) {
  expect_refused({{1, K::kFree, 0, 8}});
  expect_refused({{1, K::kAllocate, 0, 16}, {2, K::kFree, 0, 17}});
  expect_refused({{1, K::kFree, 0, 0xFFFFFFFF}});
  expect_refused({{1, K::kDropFrame, 0, 7}});
  expect_cfa(accepted({{1, K::kAllocate, 0, 16}, {2, K::kFree, 0, 16}}), kStackPointer, 8, 8);
}

TEST(FrameWalk, RefusesFramesOfTwoGigabytes) {
  expect_refused({{1, K::kAllocate, 0, 0xFFFFFFFF}});
  expect_refused({{1, K::kAllocate, 0, 0x7FFFFFF0}, {2, K::kPush, kRbx, 0}});
}

TEST(FrameWalk, RefusesAPopOfWhatDoesNotLieThere) {
  expect_refused({{1, K::kPop, kRbx, 0}});
  expect_refused({{1, K::kPush, kRbx, 0}, {2, K::kPush, kR12, 0}, {3, K::kPop, kRbx, 0}});
  expect_refused({{1, K::kPush, kRbx, 0}, {2, K::kAllocate, 0, 8}, {3, K::kPop, kRbx, 0}});
}

TEST(FrameWalk, RefusesToPushWhatIsSavedAlready) {
  expect_refused({{1, K::kPush, kRbx, 0}, {2, K::kPush, kRbx, 0}});
  accepted({{1, K::kPush, kRbx, 0}, {2, K::kPop, kRbx, 0}, {3, K::kPush, kRbx, 0}});
  accepted({{1, K::kPush, kRbx, 0}, {2, K::kFree, 0, 8}, {3, K::kPush, kRbx, 0}});
}

TEST(FrameWalk, RefusesSavesThatAreNoSlotOfTheFrame) {
  for (const std::uint32_t value : {0u, 8u, 20u, 8u + 128u + 8u})
    expect_refused({{1, K::kSave, kRbx, value}});
  accepted({{1, K::kSave, kRbx, 8 + 128}});       // the red zone's last word
  accepted(framed({{9, K::kSave, kR12, 4096}}));  // below a frame register the stack's depth is open
}

TEST(FrameWalk, RefusesToRestoreWhatIsNotSaved) {
  expect_refused({{1, K::kRestore, kRbx, 0}});
}

TEST(FrameWalk, RefusesPushesOffTheWordGrid) {
  expect_refused({{1, K::kAllocate, 0, 4}, {2, K::kPush, kRbx, 0}});
}

TEST(FrameWalk, RefusesRecallWithoutRememberAndNestedRemember) {
  expect_refused({{1, K::kRecall, 0, 0}});
  expect_refused({{1, K::kRemember, 0, 0}, {2, K::kRecall, 0, 0}, {3, K::kRecall, 0, 0}});
  expect_refused({{1, K::kRemember, 0, 0}, {2, K::kRemember, 0, 0}});
}

TEST(FrameWalk, RecallBringsBackTheRememberedState) {
  const FrameState before = accepted(framed_start);
  EXPECT_EQ(accepted(framed({{10, K::kRemember, 0, 0},
                             {11, K::kPop, kRbx, 0},
                             {12, K::kPop, kRbp, 0},
                             {13, K::kRecall, 0, 0}})),
            before);
}

TEST(FrameWalk, ANewSaveInASlotEndsTheOldOne) {
  const FrameState state = accepted({{1, K::kPush, kRbx, 0}, {2, K::kFree, 0, 8}, {3, K::kPush, kR12, 0}});
  EXPECT_EQ(state.saved_below[kRbx], 0u);
  EXPECT_EQ(state.saved_below[kR12], 16u);
}

TEST(FrameWalk, UnderAFrameRegisterTheCfaStays) {
  expect_cfa(accepted(framed({{9, K::kAllocate, 0, 64}})), kRbp, 16, 24 + 64);
  expect_cfa(accepted(framed({{9, K::kAllocate, 0, 64}, {10, K::kFree, 0, 64}, {11, K::kPop, kRbx, 0}})),
             kRbp, 16, 16);
}

TEST(FrameWalk, PopOfTheFrameRegisterCountsFromTheStackPointerAgain) {
  expect_cfa(accepted(framed({{9, K::kPop, kRbx, 0}, {10, K::kPop, kRbp, 0}})), kStackPointer, 8, 8);
}

TEST(FrameWalk, PopsTellTheDepthBehindLeaRspRbp) {
  // sub rsp, 64 (told) and alloca (not told); then lea rsp, [rbp - 8], not told either
  const FrameState popped = accepted(framed({{9, K::kAllocate, 0, 64}, {20, K::kPop, kRbx, 0}}));
  expect_cfa(popped, kRbp, 16, 16);
  expect_cfa(accepted(framed({{9, K::kAllocate, 0, 64}, {20, K::kPop, kRbx, 0}, {21, K::kPop, kRbp, 0}})),
             kStackPointer, 8, 8);
}

TEST(FrameWalk, PopOfTheFrameRegisterWorksBehindMovRspRbp) {
  expect_cfa(accepted(framed({{9, K::kAllocate, 0, 64}, {21, K::kPop, kRbp, 0}})), kStackPointer, 8, 8);
}

TEST(FrameWalk, MovRspRbpIsADropOfTheFrame) {
  const FrameState state = accepted(framed({{9, K::kAllocate, 0, 64}, {20, K::kDropFrame, 0, 16}}));
  expect_cfa(state, kStackPointer, 16, 16);
  EXPECT_EQ(state.saved_below[kRbp], 16u);
  expect_cfa(accepted(framed({{20, K::kDropFrame, 0, 16}, {21, K::kPop, kRbp, 0}})), kStackPointer, 8, 8);
}

// push rbx; mov r10, rsp; and rsp, -64; sub rsp, 128 (not told); mov [rsp + 72], r10
constexpr std::uint8_t kR10 = 10;
const Events aligned_start = {
    {1, K::kPush, kRbx, 0}, {4, K::kSetFrame, kR10, 0}, {20, K::kFrameInMemory, 0, 72}};
Events aligned(std::initializer_list<FrameEvent> more) {
  Events events = aligned_start;
  events.insert(events.end(), more);
  return events;
}

TEST(FrameWalk, FrameInMemoryIsFoundThroughAWordAboveTheStackPointer) {
  const FrameState state = accepted(aligned_start);
  EXPECT_TRUE(state.is_cfa_in_memory());
  EXPECT_EQ(state.cfa_word, 72u);
  EXPECT_EQ(state.cfa_register, kStackPointer);
  EXPECT_EQ(state.cfa_offset, 16u);
  EXPECT_EQ(state.saved_below[kRbx], 16u);
}

TEST(FrameWalk, RefusesFrameInMemoryWithoutAFrameRegister) {
  expect_refused({{1, K::kFrameInMemory, 0, 8}});
  expect_refused(aligned({{21, K::kFrameInMemory, 0, 72}}));
  expect_refused({{4, K::kSetFrame, kR10, 0}, {8, K::kDropFrame, 0, 8}, {9, K::kFrameInMemory, 0, 8}});
}

TEST(FrameWalk, RefusesAWordTwoGigabytesAboveTheStackPointer) {
  expect_refused({{4, K::kSetFrame, kR10, 0}, {8, K::kFrameInMemory, 0, 0x7FFFFFF9}});
  expect_refused({{4, K::kSetFrame, kR10, 0}, {8, K::kFrameInMemory, 0, 0xFFFFFFFF}});
  accepted({{4, K::kSetFrame, kR10, 0}, {8, K::kFrameInMemory, 0, 0x7FFFFFF8}});
}

TEST(FrameWalk, RefusesAStackPointerThatMovesWhileTheFrameIsInMemory) {
  expect_refused(aligned({{21, K::kAllocate, 0, 8}}));
  expect_refused(aligned({{21, K::kFree, 0, 8}}));
  expect_refused(aligned({{21, K::kPush, kR12, 0}}));
  expect_refused(aligned({{21, K::kPop, kRbx, 0}}));
  expect_refused(aligned({{21, K::kSetFrame, kRbp, 0}}));
}

TEST(FrameWalk, RegistersAreLoadedBackWhileTheFrameIsInMemory) {
  const FrameState state = accepted(aligned({{30, K::kRestore, kRbx, 0}}));
  EXPECT_TRUE(state.is_cfa_in_memory());
  EXPECT_EQ(state.saved, 0u);
  // The frame register is like any other from here on.
  const Events framed_in_memory = framed({{20, K::kFrameInMemory, 0, 8}, {21, K::kRestore, kRbp, 0}});
  EXPECT_TRUE(accepted(framed_in_memory).is_cfa_in_memory());
}

TEST(FrameWalk, DropFrameEndsAFrameInMemory) {
  const FrameState state = accepted(aligned({{40, K::kDropFrame, 0, 16}}));
  EXPECT_FALSE(state.is_cfa_in_memory());
  expect_cfa(state, kStackPointer, 16, 16);
  EXPECT_EQ(accepted(aligned({{40, K::kDropFrame, 0, 16}, {41, K::kPop, kRbx, 0}})), FrameState{});
}

TEST(FrameWalk, RecallBringsBackAFrameInMemory) {
  EXPECT_EQ(accepted(aligned({{39, K::kRemember, 0, 0},
                              {40, K::kDropFrame, 0, 16},
                              {41, K::kPop, kRbx, 0},
                              {42, K::kRecall, 0, 0}})),
            accepted(aligned_start));
}

TEST(FrameWalk, LeaveIsARestoreAndADropInEitherOrder) {
  const FrameState state = accepted(framed({{9, K::kAllocate, 0, 64},
                                            {19, K::kRestore, kRbx, 0},
                                            {20, K::kRestore, kRbp, 0},
                                            {20, K::kDropFrame, 0, 8}}));
  EXPECT_EQ(state, FrameState{});
  EXPECT_EQ(accepted(framed({{9, K::kAllocate, 0, 64},
                             {19, K::kRestore, kRbx, 0},
                             {20, K::kDropFrame, 0, 8},
                             {20, K::kRestore, kRbp, 0}})),
            FrameState{});
}

}  // namespace
}  // namespace jitquill::unwind
