// Preserved registers that a compiled function uses and does not save, which must not happen.
//
// asmjit's allocator keeps values out of the way of an instruction that needs certain registers (a call's
// arguments, idiv, shl by cl), at times in a preserved register that it does not count among those it used
// (libasmjit-dev 0.0~git20221210). Said to be dirty beforehand it is saved: so such a function is compiled
// again, in the same way but for that.
//
// Context   the thread that compiles.
#pragma once

#include <asmjit/x86.h>

namespace nib {

class UnsavedPass final : public asmjit::FuncPass {
 public:
  // `unsaved`: general registers, after finalize().
  explicit UnsavedPass(asmjit::RegMask& unsaved) noexcept : FuncPass("nib unsaved"), unsaved_(unsaved) {}
  asmjit::Error runOnFunction(asmjit::Zone*, asmjit::Logger*, asmjit::FuncNode* function) override {
    constexpr auto kGeneral = asmjit::RegGroup::kGp;
    asmjit::RegMask used = 0;
    for (const asmjit::BaseNode* node = function; node != function->endNode(); node = node->next()) {
      if (!node->isInst()) continue;
      const auto* inst = node->as<asmjit::InstNode>();
      for (std::uint32_t i = 0; i < inst->opCount(); ++i) used |= general_in(inst->op(i));
    }
    const asmjit::FuncFrame& frame = function->frame();
    unsaved_ =
        used & frame.preservedRegs(kGeneral) & ~frame.savedRegs(kGeneral) & ~bit(asmjit::x86::Gp::kIdSp);
    return asmjit::kErrorOk;
  }

 private:
  static asmjit::RegMask bit(std::uint32_t id) noexcept { return id < 32 ? asmjit::Support::bitMask(id) : 0; }
  static asmjit::RegMask general_in(const asmjit::Operand& operand) noexcept {
    if (asmjit::x86::Reg::isGp(operand)) return bit(operand.id());
    if (!operand.isMem()) return 0;
    const auto& memory = operand.as<asmjit::x86::Mem>();
    return (memory.hasBaseReg() ? bit(memory.baseId()) : 0) |
           (memory.hasIndexReg() ? bit(memory.indexId()) : 0);
  }

  asmjit::RegMask& unsaved_;
};

}  // namespace nib
