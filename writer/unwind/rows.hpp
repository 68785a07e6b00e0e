// Call frame instructions from frame events: the encoder, over anything that bytes can be put into.
//
// Private to writer/unwind: a header because the same walk puts bytes and counts them.
#pragma once

#include <cstdint>
#include <span>

#include "writer/model/frame_event.hpp"
#include "writer/model/status.hpp"
#include "writer/unwind/frame_walk.hpp"

namespace jitquill::unwind {

// DWARF 5, 6.4.2 and 7.24: what we put of its call frame instructions.
enum Instruction : std::uint8_t {
  kNop = 0x00,
  kAdvance1 = 0x02,
  kAdvance2 = 0x03,
  kAdvance4 = 0x04,
  kDefCfa = 0x0C,
  kDefCfaRegister = 0x0D,
  kDefCfaOffset = 0x0E,
  kDefCfaExpression = 0x0F,
  kAdvance = 0x40,  // | delta
  kOffset = 0x80,   // | register
  kRestore = 0xC0,  // | register
};

// DWARF 5, 7.7.1: what we put of its expressions.
enum Operation : std::uint8_t {
  kDereference = 0x06,
  kPlusConstant = 0x23,
  kBaseRegister = 0x70,  // + register
};

// Counts what Bytes would be put.
class Count {
 public:
  Count& u8(std::uint8_t) noexcept { return add(1); }
  Count& u16(std::uint16_t) noexcept { return add(2); }
  Count& u32(std::uint32_t) noexcept { return add(4); }
  Count& uleb128(std::uint64_t v) noexcept {
    for (; v >= 0x80; v >>= 7) add(1);
    return add(1);
  }
  Count& sleb128(std::int64_t v) noexcept {
    for (; v < -0x40 || v >= 0x40; v >>= 7) add(1);
    return add(1);
  }
  Count& raw(std::span<const std::uint8_t> v) noexcept { return add(v.size()); }
  std::uint64_t size() const noexcept { return size_; }

 private:
  Count& add(std::uint64_t count) noexcept {
    size_ += count;
    return *this;
  }
  std::uint64_t size_ = 0;
};

template <class Out>
void put_advance(Out& out, std::uint32_t delta) noexcept {
  if (delta == 0) return;
  if (delta < 0x40) {
    out.u8(static_cast<std::uint8_t>(kAdvance | delta));
  } else if (delta <= 0xFF) {
    out.u8(kAdvance1).u8(static_cast<std::uint8_t>(delta));
  } else if (delta <= 0xFFFF) {
    out.u8(kAdvance2).u16(static_cast<std::uint16_t>(delta));
  } else {
    out.u8(kAdvance4).u32(delta);
  }
}

inline bool has_same_cfa(const FrameState& a, const FrameState& b) noexcept {
  return a.cfa_register == b.cfa_register && a.cfa_offset == b.cfa_offset && a.cfa_word == b.cfa_word;
}

// CFA = *(stack pointer + word) + offset: | breg7 word | deref | plus_uconst offset |
template <class Out>
void put_expression(Out& out, const FrameState& state) noexcept {
  out.u8(kBaseRegister + kStackPointer).sleb128(state.cfa_word);
  out.u8(kDereference);
  out.u8(kPlusConstant).uleb128(state.cfa_offset);
}

// By value: the address of put_rows()'s own would keep it out of a register.
template <class Out>
[[gnu::noinline]] Out put_cfa_in_memory(Out out, const FrameState& state) noexcept {
  Count size;
  put_expression(size, state);
  out.u8(kDefCfaExpression).uleb128(size.size());
  put_expression(out, state);
  return out;
}

template <class Out>
void put_cfa_change(Out& out, const FrameState& from, const FrameState& to) noexcept {
  if (to.is_cfa_in_memory()) {
    out = put_cfa_in_memory(out, to);
    return;
  }
  const bool moved = to.cfa_offset != from.cfa_offset;
  if (from.is_cfa_in_memory() || (moved && to.cfa_register != from.cfa_register)) {
    out.u8(kDefCfa).uleb128(to.cfa_register).uleb128(to.cfa_offset);
  } else if (moved) {
    out.u8(kDefCfaOffset).uleb128(to.cfa_offset);
  } else if (to.cfa_register != from.cfa_register) {
    out.u8(kDefCfaRegister).uleb128(to.cfa_register);
  }
}

// Registers whose places one event may change, but those that lose their slots to its own.
inline std::uint32_t touched_registers(const FrameEvent& event) noexcept {
  return event.kind == FrameEventKind::kRecall ? kAllRegisters : 1u << event.reg % kRegisters;
}

// `touched` by the events since `from`. So a row costs what it changes, not what is saved.
inline std::uint32_t changed_registers(const FrameState& from, const FrameState& to,
                                       std::uint32_t touched) noexcept {
  std::uint32_t changed = from.saved ^ to.saved;
  for_each_register(from.saved & to.saved & touched, [&](std::uint32_t reg) {
    if (from.saved_below[reg] != to.saved_below[reg]) changed |= 1u << reg;
  });
  return changed;
}

template <class Out>
void put_register_change(Out& out, std::uint32_t reg, std::uint32_t below) noexcept {
  if (below == 0) {
    out.u8(static_cast<std::uint8_t>(kRestore | reg));
  } else {
    out.u8(static_cast<std::uint8_t>(kOffset | reg)).uleb128(below / kWord);
  }
}

// The most that one event can put: an advance, an expression, a rule for each register.
inline constexpr std::size_t kMaxRowSize = 5 + 2 + 16 + kRegisters * 6;

// Makes the row what the frame is now, where it differs.
inline void take_changes(FrameState& row, const FrameState& now, std::uint32_t changed) noexcept {
  row.cfa_register = now.cfa_register;
  row.cfa_offset = now.cfa_offset;
  row.cfa_word = now.cfa_word;
  row.saved = now.saved;
  for_each_register(changed, [&](std::uint32_t reg) { row.saved_below[reg] = now.saved_below[reg]; });
}

// One row per offset at which the frame differs from the row before. Differences make REMEMBER and RECALL
// work without DW_CFA_remember_state, whose stack some unwinders keep short.
template <class Out>
Status put_rows(Out& to, std::span<const FrameEvent> events, std::uint64_t code_size) noexcept {
  Out out = to;  // which the compiler keeps in registers
  FrameWalk walk(code_size);
  FrameState row;  // as the walk begins
  std::uint32_t row_offset = 0, touched = 0;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (const Status status = walk.step(events[i]); status != Status::kOk) return status;
    touched |= touched_registers(events[i]);
    const std::uint32_t offset = events[i].offset;
    const bool more_here = i + 1 < events.size() && events[i + 1].offset == offset;
    if (more_here || offset == code_size) continue;
    const FrameState& now = walk.state();
    const std::uint32_t changed = changed_registers(row, now, touched);
    touched = 0;
    if (changed == 0 && has_same_cfa(row, now)) continue;
    put_advance(out, offset - row_offset);
    put_cfa_change(out, row, now);
    for_each_register(changed,
                      [&](std::uint32_t reg) { put_register_change(out, reg, now.saved_below[reg]); });
    take_changes(row, now, changed);
    row_offset = offset;
  }
  to = out;
  return Status::kOk;
}

}  // namespace jitquill::unwind
