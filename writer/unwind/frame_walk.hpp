// Follows frame events through a function and knows the frame at each point.
//
// Context   any; plain values, no allocation.
// Promises  step() accepts exactly the events that describe a possible frame: offsets ascend and lie inside
//           the code, the stack never rises above its entry, registers exist, a pop matches what lies
//           there. While a frame register holds the CFA, a pop may also tell that the stack pointer had
//           moved to its slot.
// Does not  notice pushes behind moves that nobody told (frame_event.def says when those may be left out).
#pragma once

#include <cstdint>
#include <iterator>
#include <span>

#include "writer/model/frame_event.hpp"
#include "writer/model/status.hpp"
#include "writer/unwind/frame_state.hpp"

namespace jitquill::unwind {

// By kind, from number 1 on.
inline constexpr bool kNeedsRegister[] = {
#define FRAME_EVENT(name, NAME, number, needs) needs,
#include "writer/model/frame_event.def"
#undef FRAME_EVENT
};
static_assert(std::size(kNeedsRegister) == static_cast<std::size_t>(FrameEventKind::kFrameInMemory));

// The caller's stack pointer is the CFA itself: it is neither saved nor a frame register.
inline bool is_well_formed(const FrameEvent& event) noexcept {
  const std::size_t row = static_cast<std::size_t>(event.kind) - 1;  // huge for the kind 0
  if (row >= std::size(kNeedsRegister)) return false;
  return !kNeedsRegister[row] || (event.reg < kRegisters && event.reg != kStackPointer);
}

class FrameWalk {
 public:
  explicit FrameWalk(std::uint64_t code_size) noexcept : code_size_(code_size) {}
  // kBadFrame: the event is refused and the state unchanged. Inlined whole: so the state stays in registers.
  Status step(const FrameEvent& event) noexcept;
  const FrameState& state() const noexcept { return state_; }

 private:
  bool apply(const FrameEvent& event) noexcept;
  bool remember() noexcept;
  bool recall() noexcept;

  std::uint64_t code_size_;
  std::uint32_t last_offset_ = 0;
  FrameState state_;
  FrameState remembered_;
  bool has_remembered_ = false;
};

inline bool FrameWalk::remember() noexcept {
  if (has_remembered_) return false;
  remembered_ = state_;
  return has_remembered_ = true;
}

inline bool FrameWalk::recall() noexcept {
  if (!has_remembered_) return false;
  state_ = remembered_;
  has_remembered_ = false;
  return true;
}

[[gnu::always_inline]] inline bool FrameWalk::apply(const FrameEvent& event) noexcept {
  FrameState& s = state_;
  switch (event.kind) {
    case FrameEventKind::kPush:
      return push(s, event.reg);
    case FrameEventKind::kPop:
      return pop(s, event.reg);
    case FrameEventKind::kAllocate:
      return set_depth(s, std::uint64_t{s.depth} + event.value);
    case FrameEventKind::kFree:
      return event.value <= s.depth && set_depth(s, s.depth - event.value);
    case FrameEventKind::kSave:
      return save(s, event.reg, event.value);
    case FrameEventKind::kRestore:
      return restore(s, event.reg);
    case FrameEventKind::kSetFrame:
      return set_frame(s, event.reg);
    case FrameEventKind::kDropFrame:
      return drop_frame(s, event.value);
    case FrameEventKind::kFrameInMemory:
      return put_frame_in_memory(s, event.value);
    case FrameEventKind::kRemember:
      return remember();
    case FrameEventKind::kRecall:
      return recall();
  }
  return false;
}

[[gnu::always_inline]] inline Status FrameWalk::step(const FrameEvent& event) noexcept {
  if (event.offset < last_offset_ || event.offset > code_size_) return Status::kBadFrame;
  if (!is_well_formed(event) || !apply(event)) return Status::kBadFrame;
  last_offset_ = event.offset;
  return Status::kOk;
}

// kOk or kBadFrame for a whole description.
inline Status check_frame(std::span<const FrameEvent> events, std::uint64_t code_size) noexcept {
  FrameWalk walk(code_size);
  for (const FrameEvent& event : events) {
    if (const Status status = walk.step(event); status != Status::kOk) return status;
  }
  return Status::kOk;
}

}  // namespace jitquill::unwind
