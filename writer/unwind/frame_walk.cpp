#include "writer/unwind/frame_walk.hpp"

#include <iterator>

namespace jitquill::unwind {
namespace {

constexpr std::uint32_t kMaxDepth = 0x7FFFFFF8;
constexpr std::uint32_t kRedZone = 128;  // bytes below the stack pointer that signal handlers leave alone

// By kind, from number 1 on.
constexpr bool kNeedsRegister[] = {
#define FRAME_EVENT(name, NAME, number, needs) needs,
#include "writer/model/frame_event.def"
#undef FRAME_EVENT
};
static_assert(std::size(kNeedsRegister) == static_cast<std::size_t>(FrameEventKind::kFrameInMemory));

// The caller's stack pointer is the CFA itself: it is neither saved nor a frame register.
bool is_well_formed(const FrameEvent& event) noexcept {
  const std::size_t row = static_cast<std::size_t>(event.kind) - 1;  // huge for the kind 0
  if (row >= std::size(kNeedsRegister)) return false;
  return !kNeedsRegister[row] || (event.reg < kRegisters && event.reg != kStackPointer);
}

// Every change below is checked first, then made: a refused event leaves the state as it was.

bool is_stack_based(const FrameState& s) noexcept {
  return s.cfa_register == kStackPointer && !s.is_cfa_in_memory();
}

bool is_depth(std::uint64_t depth) noexcept {
  return depth >= kWord && depth <= kMaxDepth;
}

// Saved values are counted in words, and lie below the return address.
bool is_slot(std::uint64_t below) noexcept {
  return below > kWord && below <= kMaxDepth && below % kWord == 0;
}

bool set_depth(FrameState& s, std::uint64_t depth) noexcept {
  if (!is_depth(depth) || s.is_cfa_in_memory()) return false;  // the word is found through the stack pointer
  s.depth = static_cast<std::uint32_t>(depth);
  if (is_stack_based(s)) s.cfa_offset = s.depth;
  return true;
}

bool drop_frame(FrameState& s, std::uint64_t depth) noexcept {
  if (!is_depth(depth)) return false;
  s.cfa_register = kStackPointer;
  s.cfa_word = FrameState::kNoWord;
  return set_depth(s, depth);
}

void forget_saved(FrameState& s, std::uint32_t reg) noexcept {
  s.saved_below[reg] = 0;
  s.saved &= ~(1u << reg);
}

// One word holds one register: whoever had that slot is found in its register again, since its old value is
// gone from memory.
void set_saved(FrameState& s, std::uint8_t reg, std::uint32_t below) noexcept {
  for_each_register(s.saved, [&](std::uint32_t other) {
    if (s.saved_below[other] == below) forget_saved(s, other);
  });
  s.saved_below[reg] = below;
  s.saved |= 1u << reg;
}

bool restore(FrameState& s, std::uint8_t reg) noexcept {
  if (s.saved_below[reg] == 0) return false;
  forget_saved(s, reg);
  return s.cfa_register == reg ? drop_frame(s, s.depth) : true;
}

// A register that is saved already does not hold the caller's value any more as a rule: pushing it again is
// scratch, to be told as ALLOCATE. Its slot above the stack pointer (told as FREE) is no longer a save.
bool push(FrameState& s, std::uint8_t reg) noexcept {
  const bool is_saved = s.saved_below[reg] != 0 && s.saved_below[reg] <= s.depth;
  const std::uint64_t below = std::uint64_t{s.depth} + kWord;
  if (is_saved || !is_slot(below) || !set_depth(s, below)) return false;
  set_saved(s, reg, static_cast<std::uint32_t>(below));
  return true;
}

// Under a frame register the depth may be inexact (alloca, lea rsp,[rbp-16]). There the pop itself says where
// the stack pointer was: at the slot of its register.
bool pop(FrameState& s, std::uint8_t reg) noexcept {
  const std::uint32_t slot = s.saved_below[reg];
  if (slot == 0 || (is_stack_based(s) && slot != s.depth)) return false;
  return set_depth(s, slot - kWord) && restore(s, reg);
}

bool save(FrameState& s, std::uint8_t reg, std::uint32_t below) noexcept {
  const bool in_reach = !is_stack_based(s) || below <= std::uint64_t{s.depth} + kRedZone;
  if (!in_reach || !is_slot(below)) return false;
  set_saved(s, reg, below);
  return true;
}

bool set_frame(FrameState& s, std::uint8_t reg) noexcept {
  if (s.is_cfa_in_memory()) return false;  // where the stack pointer is then, nobody knows
  s.cfa_register = reg;
  s.cfa_offset = s.depth;
  return true;
}

// The frame register's value lies in memory too, and the register is free from here on.
bool put_frame_in_memory(FrameState& s, std::uint32_t word) noexcept {
  if (is_stack_based(s) || s.is_cfa_in_memory() || word > kMaxDepth) return false;
  s.cfa_register = kStackPointer;
  s.cfa_word = word;
  return true;
}

}  // namespace

bool FrameWalk::remember() noexcept {
  if (has_remembered_) return false;
  remembered_ = state_;
  return has_remembered_ = true;
}

bool FrameWalk::recall() noexcept {
  if (!has_remembered_) return false;
  state_ = remembered_;
  has_remembered_ = false;
  return true;
}

bool FrameWalk::apply(const FrameEvent& event) noexcept {
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

Status FrameWalk::step(const FrameEvent& event) noexcept {
  if (event.offset < last_offset_ || event.offset > code_size_) return Status::kBadFrame;
  if (!is_well_formed(event) || !apply(event)) return Status::kBadFrame;
  last_offset_ = event.offset;
  return Status::kOk;
}

Status check_frame(std::span<const FrameEvent> events, std::uint64_t code_size) noexcept {
  FrameWalk walk(code_size);
  for (const FrameEvent& event : events) {
    if (const Status status = walk.step(event); status != Status::kOk) return status;
  }
  return Status::kOk;
}

}  // namespace jitquill::unwind
