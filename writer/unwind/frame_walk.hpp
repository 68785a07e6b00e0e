// Follows frame events through a function and knows the frame at each point.
//
// Context   any; plain values, no allocation.
// Promises  step() accepts exactly the events that describe a possible frame: offsets ascend and lie inside
// the
//           code, the stack never rises above its entry, registers exist, a pop matches what lies there.
//           While a frame register holds the CFA, a pop may also tell that the stack pointer had moved to its
//           slot.
// Does not  notice pushes behind moves that nobody told (frame_event.def says when those may be left out).
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>

#include "writer/model/frame_event.hpp"
#include "writer/model/status.hpp"

namespace jitquill::unwind {

// x86-64 DWARF numbers: the CPU's part of a frame.
inline constexpr std::uint8_t kStackPointer = 7;
inline constexpr std::uint8_t kReturnAddress = 16;
inline constexpr std::uint32_t kRegisters = 16;
inline constexpr std::uint32_t kWord = 8;

// Where the caller's registers are at one point of a function.
struct FrameState {
  std::uint8_t cfa_register = kStackPointer;
  std::uint32_t cfa_offset = kWord;  // CFA = cfa_register + cfa_offset
  std::uint32_t cfa_word = kNoWord;  // else CFA = *(stack pointer + cfa_word) + cfa_offset
  std::uint32_t depth = kWord;       // CFA - stack pointer, as far as events tell
  std::uint32_t saved = 0;           // bit per register that is in memory
  std::array<std::uint32_t, kRegisters>
      saved_below{};  // CFA - address of the saved value; 0 = in the register
  static constexpr std::uint32_t kNoWord = ~std::uint32_t{0};
  bool is_cfa_in_memory() const noexcept { return cfa_word != kNoWord; }
  bool operator==(const FrameState&) const = default;
};

class FrameWalk {
 public:
  explicit FrameWalk(std::uint64_t code_size) noexcept : code_size_(code_size) {}
  // kBadFrame: the event is refused and the state unchanged.
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

// Calls call(register) for each bit: few are ever set, and this is done at every instruction of a prologue.
template <class Call>
void for_each_register(std::uint32_t registers, Call call) noexcept {
  for (; registers != 0; registers &= registers - 1)
    call(static_cast<std::uint32_t>(std::countr_zero(registers)));
}

// kOk or kBadFrame for a whole description.
Status check_frame(std::span<const FrameEvent> events, std::uint64_t code_size) noexcept;

}  // namespace jitquill::unwind
