// The frame at one point of a function, and the events that change it.
//
// Context   one thread; the emitter's or the runtime's.
// Promises  what put() accepts is a frame that can be: the stack pointer stays at or below its value at entry
// and
//           no saved value lies below it. The first refusal stays.
#pragma once

#include <jitquill/jitquill.h>
#include <jitquill/asmjit/refusal.hpp>
#include <jitquill/asmjit/rows.hpp>
#include <jitquill/asmjit/version.hpp>

#include <array>
#include <cstdint>

namespace jitquill::asmjit_detail {

inline constexpr std::uint32_t kWord = 8;

// Registers have the numbers of instructions here, DWARF numbers in events.
struct FrameState {
  std::uint32_t depth = kWord;                    // CFA - stack pointer
  std::uint32_t frame_offset = 0;                 // CFA - rbp; 0 = the CFA is found through the stack pointer
  std::array<std::uint32_t, kRegisters> saved{};  // CFA - address of the saved value; 0 = in the register
  bool operator==(const FrameState&) const = default;
};

inline std::uint8_t dwarf_register(std::uint32_t reg) noexcept {
  constexpr std::array<std::uint8_t, 8> kFirst = {0, 2, 1, 3, 7, 6, 4, 5};  // ax cx dx bx sp bp si di
  return reg < kFirst.size() ? kFirst[reg] : static_cast<std::uint8_t>(reg);
}

class FrameEvents {
 public:
  // A function begins at `start`; offsets stay those of the section until rebase.
  void begin(std::uint32_t start) noexcept {
    first_ = events_.size();
    after_recall_ = 0;
    states_.cut(0);
    state_ = FrameState{};
    start_ = start;
    refusal_ = Refusal::kNone;
  }
  void clear() noexcept {
    events_.clear();
    states_.clear();
    begin(0);
  }
  void refuse(Refusal refusal) noexcept {
    if (refusal_ == Refusal::kNone) refusal_ = refusal;
  }

  void push(std::uint32_t reg, std::uint32_t at) noexcept {
    state_.depth += kWord;
    state_.saved[reg] = state_.depth;
    put(JITQUILL_FRAME_PUSH, reg, 0, at);
  }
  void pop(std::uint32_t reg, std::uint32_t at) noexcept {
    state_.saved[reg] = 0;
    state_.depth -= kWord;
    put(JITQUILL_FRAME_POP, reg, 0, at);
  }
  void save(std::uint32_t reg, std::uint32_t below, std::uint32_t at) noexcept {
    state_.saved[reg] = below;
    put(JITQUILL_FRAME_SAVE, reg, below, at);
  }
  void restore(std::uint32_t reg, std::uint32_t at) noexcept {
    state_.saved[reg] = 0;
    put(JITQUILL_FRAME_RESTORE, reg, 0, at);
  }
  void set_frame(std::uint32_t at) noexcept {
    state_.frame_offset = state_.depth;
    put(JITQUILL_FRAME_SET_FRAME, kBp, 0, at);
  }
  void drop_frame(std::uint32_t depth, std::uint32_t at) noexcept {
    state_.frame_offset = 0;
    state_.depth = depth;
    put(JITQUILL_FRAME_DROP_FRAME, 0, depth, at);
  }
  // The stack pointer goes down (positive) or up (negative).
  void move_stack(std::int64_t bytes, std::uint32_t at) noexcept;
  // The state `wanted` holds from `at` on, behind an instruction that does not go on to the next.
  void resume(const FrameState& wanted, std::uint32_t at) noexcept;

  const FrameState& state() const noexcept { return state_; }
  std::uint32_t start() const noexcept { return start_; }
  Refusal refusal() const noexcept {
    return events_.whole() && states_.whole() ? refusal_ : Refusal::kNoMemory;
  }
  const Rows<jitquill_frame_event>& rows() const noexcept { return events_; }
  std::size_t first() const noexcept { return first_; }  // of this function's rows

 private:
  void put(jitquill_frame_kind kind, std::uint32_t reg, std::uint32_t value, std::uint32_t at) noexcept {
    const bool has_register = kind == JITQUILL_FRAME_PUSH || kind == JITQUILL_FRAME_POP ||
                              kind == JITQUILL_FRAME_SAVE || kind == JITQUILL_FRAME_RESTORE ||
                              kind == JITQUILL_FRAME_SET_FRAME;
    events_.put({at - start_, static_cast<std::uint8_t>(kind),
                 has_register ? dwarf_register(reg) : std::uint8_t{0}, 0, value});
    states_.put(state_);
  }
  bool keeps_saves(std::uint32_t depth) const noexcept {
    for (const std::uint32_t below : state_.saved)
      if (below > depth) return false;
    return true;
  }
  const FrameState& state_before(std::size_t row) const noexcept {
    static constexpr FrameState kEntry{};
    return row == 0 ? kEntry : states_[row - 1];
  }

  Rows<jitquill_frame_event> events_;  // of all functions so far
  Rows<FrameState> states_;            // after each event of this function
  FrameState state_;
  std::size_t first_ = 0;
  std::size_t after_recall_ = 0;  // this function's rows before it may not hold a REMEMBER
  std::uint32_t start_ = 0;
  Refusal refusal_ = Refusal::kNone;
};

inline void FrameEvents::move_stack(std::int64_t bytes, std::uint32_t at) noexcept {
  const std::int64_t depth = std::int64_t{state_.depth} + bytes;
  if (depth < kWord) return refuse(Refusal::kUnderflow);
  if (depth > INT32_MAX) return refuse(Refusal::kStackPointer);
  const auto new_depth = static_cast<std::uint32_t>(depth);
  if (!keeps_saves(new_depth)) return refuse(Refusal::kLostSave);
  state_.depth = new_depth;
  if (bytes > 0) put(JITQUILL_FRAME_ALLOCATE, 0, static_cast<std::uint32_t>(bytes), at);
  if (bytes < 0) put(JITQUILL_FRAME_FREE, 0, static_cast<std::uint32_t>(-bytes), at);
}

// The epilogue's first event is only known now, so its REMEMBER is put in front of it afterwards.
inline void FrameEvents::resume(const FrameState& wanted, std::uint32_t at) noexcept {
  if (state_ == wanted || refusal() != Refusal::kNone) return;
  std::size_t row = states_.size();
  while (row > after_recall_ && !(state_before(row - 1) == wanted)) --row;
  if (row == after_recall_) return refuse(Refusal::kNoReturnState);
  const std::size_t epilogue = row - 1;
  const std::uint32_t offset = events_[first_ + epilogue].offset;
  events_.insert(first_ + epilogue, {offset, JITQUILL_FRAME_REMEMBER, 0, 0, 0});
  states_.insert(epilogue, wanted);
  state_ = wanted;
  put(JITQUILL_FRAME_RECALL, 0, 0, at);
  after_recall_ = states_.size();
}

}  // namespace jitquill::asmjit_detail
