// Reads frame events as an unwinder would, from the comments of jitquill.h alone: the adapter's answers are
// checked with it, so it shares nothing with the adapter.
//
// Context   any; plain values.
#pragma once

#include <jitquill/jitquill.h>

#include <array>
#include <cstdint>
#include <span>

namespace frames {

inline constexpr int kStackPointer = 7;  // DWARF

struct Frame {
  bool valid = true;
  int cfa_register = kStackPointer;
  std::int64_t cfa_offset = 8;           // CFA = cfa_register + cfa_offset
  std::int64_t cfa_word = -1;            // or, from 0 on: CFA = *(stack pointer + cfa_word) + cfa_offset
  std::int64_t depth = 8;                // CFA - stack pointer, where no frame register hides moves of it
  std::array<std::int64_t, 16> below{};  // 0 = the register still has the caller's value
};

// The frame at the instruction that begins at `offset`.
Frame frame_at(std::span<const jitquill_frame_event> events, std::uint32_t offset) noexcept;

}  // namespace frames
