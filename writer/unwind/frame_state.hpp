// Where the caller's registers are at one point of a function, and what each kind of instruction changes.
//
// Context   any; plain values, no allocation. Private to writer/unwind: a header because it is done at every
//           instruction of a prologue, where calls would cost more than the changes.
// Promises  a change that is impossible returns false and leaves the state as it was.
// Does not  know offsets, nor whether a register exists: frame_walk.hpp does.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace jitquill::unwind {

// x86-64 DWARF numbers: the CPU's part of a frame.
inline constexpr std::uint8_t kStackPointer = 7;
inline constexpr std::uint8_t kReturnAddress = 16;
inline constexpr std::uint32_t kRegisters = 16;
inline constexpr std::uint32_t kAllRegisters = (1u << kRegisters) - 1;
inline constexpr std::uint32_t kWord = 8;

// Where the caller's registers are at one point of a function.
// What a row takes of it stands apart: the compiler would load neighbours as one, and the CPU waits where
// they were stored one by one just before.
struct FrameState {
  std::array<std::uint32_t, kRegisters> saved_below{};  // CFA - address of the saved value; 0 = in register
  std::uint32_t saved = 0;                              // bit per register that is in memory
  std::uint32_t depth = kWord;                          // CFA - stack pointer, as far as events tell
  std::uint32_t cfa_word = kNoWord;  // CFA = *(stack pointer + cfa_word) + cfa_offset, if there is one
  std::uint8_t cfa_register = kStackPointer;
  std::uint32_t cfa_offset = kWord;  // else CFA = cfa_register + cfa_offset
  static constexpr std::uint32_t kNoWord = ~std::uint32_t{0};
  bool is_cfa_in_memory() const noexcept { return cfa_word != kNoWord; }
  bool operator==(const FrameState&) const = default;
};

inline constexpr std::uint32_t kMaxDepth = 0x7FFFFFF8;
inline constexpr std::uint32_t kRedZone =
    128;  // bytes below the stack pointer that signal handlers leave alone

// Calls call(register) for each bit: few are ever set, and this is done at every instruction of a prologue.
template <class Call>
[[gnu::always_inline]] inline void for_each_register(std::uint32_t registers, Call call) noexcept {
  for (; registers != 0; registers &= registers - 1)
    call(static_cast<std::uint32_t>(std::countr_zero(registers)));
}

// Every change below is checked first, then made: a refused event leaves the state as it was.

inline bool is_stack_based(const FrameState& s) noexcept {
  return s.cfa_register == kStackPointer && !s.is_cfa_in_memory();
}

inline bool is_depth(std::uint64_t depth) noexcept {
  return depth >= kWord && depth <= kMaxDepth;
}

// Saved values are counted in words, and lie below the return address.
inline bool is_slot(std::uint64_t below) noexcept {
  return below > kWord && below <= kMaxDepth && below % kWord == 0;
}

inline bool set_depth(FrameState& s, std::uint64_t depth) noexcept {
  if (!is_depth(depth) || s.is_cfa_in_memory()) return false;  // the word is found through the stack pointer
  s.depth = static_cast<std::uint32_t>(depth);
  if (is_stack_based(s)) s.cfa_offset = s.depth;
  return true;
}

inline bool drop_frame(FrameState& s, std::uint64_t depth) noexcept {
  if (!is_depth(depth)) return false;
  s.cfa_register = kStackPointer;
  s.cfa_word = FrameState::kNoWord;
  return set_depth(s, depth);
}

inline void forget_saved(FrameState& s, std::uint32_t reg) noexcept {
  s.saved_below[reg] = 0;
  s.saved &= ~(1u << reg);
}

// One word holds one register: whoever had that slot is found in its register again, since its old value is
// gone from memory.
inline void set_saved(FrameState& s, std::uint8_t reg, std::uint32_t below) noexcept {
  for_each_register(s.saved, [&](std::uint32_t other) {
    if (s.saved_below[other] == below) forget_saved(s, other);
  });
  s.saved_below[reg] = below;
  s.saved |= 1u << reg;
}

inline bool restore(FrameState& s, std::uint8_t reg) noexcept {
  if (s.saved_below[reg] == 0) return false;
  forget_saved(s, reg);
  return s.cfa_register == reg ? drop_frame(s, s.depth) : true;
}

// A register that is saved already does not hold the caller's value any more as a rule: pushing it again is
// scratch, to be told as ALLOCATE. Its slot above the stack pointer (told as FREE) is no longer a save.
inline bool push(FrameState& s, std::uint8_t reg) noexcept {
  const bool is_saved = s.saved_below[reg] != 0 && s.saved_below[reg] <= s.depth;
  const std::uint64_t below = std::uint64_t{s.depth} + kWord;
  if (is_saved || !is_slot(below) || !set_depth(s, below)) return false;
  set_saved(s, reg, static_cast<std::uint32_t>(below));
  return true;
}

// Under a frame register the depth may be inexact (alloca, lea rsp,[rbp-16]). There the pop itself says where
// the stack pointer was: at the slot of its register.
inline bool pop(FrameState& s, std::uint8_t reg) noexcept {
  const std::uint32_t slot = s.saved_below[reg];
  if (slot == 0 || (is_stack_based(s) && slot != s.depth)) return false;
  return set_depth(s, slot - kWord) && restore(s, reg);
}

inline bool save(FrameState& s, std::uint8_t reg, std::uint32_t below) noexcept {
  const bool in_reach = !is_stack_based(s) || below <= std::uint64_t{s.depth} + kRedZone;
  if (!in_reach || !is_slot(below)) return false;
  set_saved(s, reg, below);
  return true;
}

inline bool set_frame(FrameState& s, std::uint8_t reg) noexcept {
  if (s.is_cfa_in_memory()) return false;  // where the stack pointer is then, nobody knows
  s.cfa_register = reg;
  s.cfa_offset = s.depth;
  return true;
}

// The frame register's value lies in memory too, and the register is free from here on.
inline bool put_frame_in_memory(FrameState& s, std::uint32_t word) noexcept {
  if (is_stack_based(s) || s.is_cfa_in_memory() || word > kMaxDepth) return false;
  s.cfa_register = kStackPointer;
  s.cfa_word = word;
  return true;
}

}  // namespace jitquill::unwind
