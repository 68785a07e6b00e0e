// One encoded instruction as asmjit was asked for it, and questions about its operands.
//
// Context   any; plain values.
#pragma once

#include <jitquill/asmjit/frame_state.hpp>

namespace jitquill::asmjit_detail {

struct Instruction {
  asmjit::InstId id;
  const asmjit::Operand_* operands;  // as many as count
  std::uint32_t count;
  std::uint32_t start, end;  // offsets in the section

  bool is_reg(std::uint32_t index, std::uint32_t reg) const noexcept {
    return index < count && is_gp(operands[index]) && operands[index].id() == reg &&
           operand_size(operands[index]) == kWord;
  }
};

// [reg + x] and nothing else.
inline bool is_plain_word(const asmjit::Operand_& operand) noexcept {
  if (!operand.JITQUILL_ASMJIT(isMem, is_mem)()) return false;
  const auto& mem = operand.as<asmjit::x86::Mem>();
  return mem.JITQUILL_ASMJIT(hasBaseReg, has_base_reg)() && !mem.JITQUILL_ASMJIT(hasIndex, has_index)() &&
         !mem.JITQUILL_ASMJIT(hasSegment, has_segment)();
}

inline bool is_stack_word(const asmjit::Operand_& operand) noexcept {
  return is_plain_word(operand) && operand.as<asmjit::x86::Mem>().JITQUILL_ASMJIT(baseId, base_id)() == kSp;
}

// Does the instruction move the stack pointer? calls and ret leave it as it was, as far as the caller sees.
inline bool moves_stack(asmjit::InstId id, const asmjit::Operand_* operands, std::uint32_t count) noexcept {
  switch (id) {
    case Inst::kIdPush:
    case Inst::kIdPop:
    case Inst::kIdPushf:
    case Inst::kIdPopf:
    case Inst::kIdPushfq:
    case Inst::kIdPopfq:
    case Inst::kIdEnter:
    case Inst::kIdLeave:
      return true;
    case Inst::kIdCmp:
    case Inst::kIdTest:
      return false;
    default:
      return count != 0 && is_gp(operands[0]) && operands[0].id() == kSp;
  }
}

}  // namespace jitquill::asmjit_detail
