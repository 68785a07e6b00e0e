// asmjit itself, and the one macro that spells its names for the version at hand.
//
// asmjit 1.18 renamed every function to snake_case. JITQUILL_ASMJIT(old, new) picks one spelling; where more
// than a name changed there is an #if next to the code. The tests run with 1.9.0; with their asmjit calls
// respelled they also passed with 1.21.0. Versions in between have not been compiled.
//
// Context   include only; asmjit is a static library, so all of this lives in the executable.
#pragma once

#include <asmjit/core.h>
#include <asmjit/x86.h>

#include <cstdint>

#if ASMJIT_LIBRARY_VERSION >= 0x011200
#define JITQUILL_ASMJIT(old, new) new
#else
#define JITQUILL_ASMJIT(old, new) old
#endif

namespace jitquill::asmjit_detail {

namespace Inst = asmjit::x86::Inst;  // kIdPush and so on

inline constexpr asmjit::Error kNoError = asmjit::kErrorOk;
inline constexpr asmjit::Error kOutOfMemory = asmjit::JITQUILL_ASMJIT(kErrorOutOfMemory, Error::kOutOfMemory);
inline constexpr asmjit::Error kNotAttached =
    asmjit::JITQUILL_ASMJIT(kErrorNotInitialized, Error::kNotInitialized);
inline constexpr asmjit::Error kNoCode =
    asmjit::JITQUILL_ASMJIT(kErrorNoCodeGenerated, Error::kNoCodeGenerated);

#if ASMJIT_LIBRARY_VERSION >= 0x011100
using HolderArgument = asmjit::CodeHolder&;  // of onAttach
#else
using HolderArgument = asmjit::CodeHolder*;
#endif

// x86-64 registers by the number that instructions use.
inline constexpr std::uint32_t kBx = 3, kSp = 4, kBp = 5, kRegisters = 16;
// The System V convention's preserved registers: rbx, rbp, r12..r15.
inline constexpr std::uint32_t kPreservedRegisters = 1u << kBx | 1u << kBp | 0xF000u;

inline bool is_gp(const asmjit::Operand_& operand) noexcept {
#if ASMJIT_LIBRARY_VERSION >= 0x011200
  return operand.is_gp();
#else
  return asmjit::x86::Reg::isGp(operand);
#endif
}

// The registers that a function with this frame gives back as they were, the stack pointer aside.
inline std::uint32_t preserved_by(const asmjit::FuncFrame& frame) noexcept {
  return frame.JITQUILL_ASMJIT(preservedRegs, preserved_regs)(asmjit::RegGroup::kGp) & ~(1u << kSp);
}

// Bytes of a register or memory operand; 0 = not said.
inline std::uint32_t operand_size(const asmjit::Operand_& operand) noexcept {
  if (is_gp(operand)) return operand.as<asmjit::x86::Gp>().size();
  return operand.JITQUILL_ASMJIT(isMem, is_mem)() ? operand.as<asmjit::x86::Mem>().size() : 0;
}

}  // namespace jitquill::asmjit_detail
