// The frame at one point of a function, and the events that change it.
//
// Context   one thread; the emitter's or the runtime's.
// Promises  what is put is a frame that can be: the stack pointer stays at or below its value at entry and no
//           saved value lies below it. The first refusal stays.
#pragma once

#include <jitquill/jitquill.h>
#include <jitquill/asmjit/refusal.hpp>
#include <jitquill/asmjit/rows.hpp>
#include <jitquill/asmjit/version.hpp>

#include <array>
#include <cstdint>

namespace jitquill::asmjit_detail {

inline constexpr std::uint32_t kWord = 8;
inline constexpr std::uint32_t kNowhere = ~std::uint32_t{0};

// What readers of the events know. Registers have the numbers of instructions here, DWARF numbers in events.
struct ToldFrame {
  std::uint32_t depth = kWord;  // CFA - stack pointer; stays while the stack is aligned
  std::uint32_t frame_register = kSp;
  std::uint32_t frame_offset = 0;                 // CFA - what the frame register held
  std::uint32_t frame_word = kNowhere;            // stack pointer + this: the word that holds it now
  std::array<std::uint32_t, kRegisters> saved{};  // CFA - address of the saved value; 0 = in the register
  bool operator==(const ToldFrame&) const = default;

  bool has_frame_register() const noexcept { return frame_register != kSp; }
  bool is_in_memory() const noexcept { return frame_word != kNowhere; }
};

struct FrameState {
  ToldFrame told;
  // Bytes that the stack pointer went down since it was aligned, from a place that only run time knows.
  std::uint32_t below_aligned = kNowhere;
  bool operator==(const FrameState&) const = default;

  bool is_aligned() const noexcept { return below_aligned != kNowhere; }
  // At least so far is the stack pointer below the CFA.
  std::uint32_t least_depth() const noexcept { return told.depth + (is_aligned() ? below_aligned : 0); }
  // Is the stack pointer's distance from the CFA known?
  bool is_exact() const noexcept { return !is_aligned() && !told.is_in_memory(); }
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
    told_.cut(0);
    state_ = FrameState{};
    start_ = start;
    refusal_ = Refusal::kNone;
  }
  void clear() noexcept {
    events_.clear();
    told_.clear();
    begin(0);
  }
  void refuse(Refusal refusal) noexcept {
    if (refusal_ == Refusal::kNone) refusal_ = refusal;
  }

  void push(std::uint32_t reg, std::uint32_t at) noexcept {
    state_.told.depth += kWord;
    state_.told.saved[reg] = state_.told.depth;
    put(JITQUILL_FRAME_PUSH, reg, 0, at);
  }
  // Of a saved register. That of the frame register ends the frame: the stack pointer is at its slot then.
  void pop(std::uint32_t reg, std::uint32_t at) noexcept;
  void save(std::uint32_t reg, std::uint32_t below, std::uint32_t at) noexcept {
    state_.told.saved[reg] = below;
    put(JITQUILL_FRAME_SAVE, reg, below, at);
  }
  void restore(std::uint32_t reg, std::uint32_t at) noexcept {
    state_.told.saved[reg] = 0;
    put(JITQUILL_FRAME_RESTORE, reg, 0, at);
  }
  void set_frame(std::uint32_t reg, std::uint32_t at) noexcept {
    state_.told.frame_register = reg;
    state_.told.frame_offset = state_.told.depth;
    put(JITQUILL_FRAME_SET_FRAME, reg, 0, at);
  }
  void put_frame_in_memory(std::uint32_t word, std::uint32_t at) noexcept {
    state_.told.frame_register = kSp;
    state_.told.frame_word = word;
    put(JITQUILL_FRAME_FRAME_IN_MEMORY, 0, word, at);
  }
  // The CFA is counted from the stack pointer again.
  void drop_frame(std::uint32_t depth, std::uint32_t at) noexcept;
  // The stack pointer goes down (positive) or up (negative).
  void move_stack(std::int64_t bytes, std::uint32_t at) noexcept;
  // The stack pointer is set to a known place.
  void set_depth(std::uint32_t depth, std::uint32_t at) noexcept {
    state_.below_aligned = kNowhere;
    move_stack(std::int64_t{depth} - state_.told.depth, at);
  }
  // The stack pointer goes down by an amount that only run time knows.
  void align_stack() noexcept {
    if (!state_.is_aligned()) state_.below_aligned = 0;
  }
  // The state `wanted` holds from `at` on, behind an instruction that does not go on to the next.
  void resume(const FrameState& wanted, std::uint32_t at) noexcept;

  const FrameState& state() const noexcept { return state_; }
  std::uint32_t start() const noexcept { return start_; }
  Refusal refusal() const noexcept {
    return events_.whole() && told_.whole() ? refusal_ : Refusal::kNoMemory;
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
    told_.put(state_.told);
  }
  bool keeps_saves(std::uint32_t depth) const noexcept {
    for (const std::uint32_t below : state_.told.saved)
      if (below > depth) return false;
    return true;
  }
  const ToldFrame& told_before(std::size_t row) const noexcept {
    static constexpr ToldFrame kEntry{};
    return row == 0 ? kEntry : told_[row - 1];
  }

  Rows<jitquill_frame_event> events_;  // of all functions so far
  Rows<ToldFrame> told_;               // after each event of this function
  FrameState state_;
  std::size_t first_ = 0;
  std::size_t after_recall_ = 0;  // this function's rows before it may not hold a REMEMBER
  std::uint32_t start_ = 0;
  Refusal refusal_ = Refusal::kNone;
};

inline void FrameEvents::pop(std::uint32_t reg, std::uint32_t at) noexcept {
  ToldFrame& told = state_.told;
  const std::uint32_t slot = told.saved[reg];
  if (!keeps_saves(slot)) return refuse(Refusal::kLostSave);
  told.saved[reg] = 0;
  told.depth = slot - kWord;
  state_.below_aligned = kNowhere;
  if (reg == told.frame_register) {
    told.frame_register = kSp;
    told.frame_offset = 0;
  }
  put(JITQUILL_FRAME_POP, reg, 0, at);
}

inline void FrameEvents::drop_frame(std::uint32_t depth, std::uint32_t at) noexcept {
  if (!keeps_saves(depth)) return refuse(Refusal::kLostSave);
  state_.told.frame_register = kSp;
  state_.told.frame_offset = 0;
  state_.told.frame_word = kNowhere;
  state_.told.depth = depth;
  state_.below_aligned = kNowhere;
  put(JITQUILL_FRAME_DROP_FRAME, 0, depth, at);
}

// In an aligned stack nothing is told: what is at stake is only that saved values are not given up.
inline void FrameEvents::move_stack(std::int64_t bytes, std::uint32_t at) noexcept {
  if (state_.told.is_in_memory()) return refuse(Refusal::kFrameInMemory);
  const bool is_aligned = state_.is_aligned();
  const std::int64_t depth = (is_aligned ? state_.below_aligned : std::int64_t{state_.told.depth}) + bytes;
  if (depth > INT32_MAX / 2) return refuse(Refusal::kStackPointer);
  if (depth < (is_aligned ? 0 : kWord)) return refuse(is_aligned ? Refusal::kLostSave : Refusal::kUnderflow);
  const auto new_depth = static_cast<std::uint32_t>(depth);
  if (!keeps_saves(is_aligned ? state_.told.depth + new_depth : new_depth)) return refuse(Refusal::kLostSave);
  (is_aligned ? state_.below_aligned : state_.told.depth) = new_depth;
  if (is_aligned) return;
  if (bytes > 0) put(JITQUILL_FRAME_ALLOCATE, 0, static_cast<std::uint32_t>(bytes), at);
  if (bytes < 0) put(JITQUILL_FRAME_FREE, 0, static_cast<std::uint32_t>(-bytes), at);
}

// The epilogue's first event is only known now, so its REMEMBER is put in front of it afterwards.
inline void FrameEvents::resume(const FrameState& wanted, std::uint32_t at) noexcept {
  if (refusal() != Refusal::kNone) return;
  const bool is_told = state_.told == wanted.told;
  state_ = wanted;
  if (is_told) return;
  std::size_t row = told_.size();
  while (row > after_recall_ && !(told_before(row - 1) == wanted.told)) --row;
  if (row == after_recall_) return refuse(Refusal::kNoReturnState);
  const std::size_t epilogue = row - 1;
  const std::uint32_t offset = events_[first_ + epilogue].offset;
  events_.insert(first_ + epilogue, {offset, JITQUILL_FRAME_REMEMBER, 0, 0, 0});
  told_.insert(epilogue, wanted.told);
  put(JITQUILL_FRAME_RECALL, 0, 0, at);
  after_recall_ = told_.size();
}

}  // namespace jitquill::asmjit_detail
