// Functions of many frame shapes, made with each kind of emitter.
//
// Context   tests.
#pragma once

#include <jitquill/asmjit.hpp>

#include <cstdint>

namespace shapes {

using asmjit::CodeHolder;
using asmjit::Error;
using asmjit::FuncArgsAssignment;
using asmjit::FuncDetail;
using asmjit::FuncFrame;
using asmjit::FuncSignatureT;
namespace x86 = asmjit::x86;

inline constexpr x86::Gp kPreserved[] = {x86::rbx, x86::r12, x86::r13, x86::r14,
                                         x86::r15, x86::rbp, x86::rsi, x86::rdi};
using U = std::uint64_t;

struct Shape {
  int pushes = 0;  // of kPreserved; the last two only on Windows
  bool frame_pointer = false;
  std::uint32_t locals = 0;
  int epilogs = 1;           // 1 to 4
  std::uint32_t align = 16;  // of the locals
  int stack_register = -1;   // through which stack arguments are read; -1 = there are none
  bool windows = false;      // its calling convention
  int vectors = 0;           // preserved vector registers, from xmm6 on
  bool avx = false;
  bool cleanup = false;   // emms, vzeroupper
  bool is_small = false;  // kOptimizeForSize
  const char* name = "";
};

inline const x86::Gp& first_argument(const Shape& shape) {
  return shape.windows ? x86::rcx : x86::rdi;
}

inline FuncDetail detail_of(const Shape& shape) {
  FuncDetail detail;
  const auto convention = shape.windows ? asmjit::CallConvId::kX64Windows : asmjit::CallConvId::kX64SystemV;
  if (shape.stack_register < 0)
    detail.init(FuncSignatureT<U, U>(convention), asmjit::Environment::host());
  else
    detail.init(FuncSignatureT<U, U, U, U, U, U, U, U, U>(convention), asmjit::Environment::host());
  return detail;
}

// All but the locals, which a Compiler counts itself.
inline void describe(FuncFrame& frame, const Shape& shape) {
  for (int i = 0; i < shape.pushes; ++i) frame.addDirtyRegs(kPreserved[i]);
  for (int i = 0; i < shape.vectors; ++i) frame.addDirtyRegs(x86::xmm(static_cast<std::uint32_t>(6 + i)));
  if (shape.frame_pointer) frame.setPreservedFP();
  if (shape.avx) frame.setAvxEnabled();
  if (shape.cleanup) frame.setMmxCleanup();
  if (shape.cleanup) frame.setAvxCleanup();
}

// Overwrites what the frame has saved, and what it was found through before it was put into memory: asmjit
// takes rbp for that where nothing else is asked for.
template <class E>
void scramble(E& e, const Shape& shape) {
  const bool is_found_in_memory = shape.align > 16 && !shape.frame_pointer;
  for (int i = 0; i < shape.pushes; ++i)
    if (!(shape.frame_pointer && kPreserved[i] == x86::rbp)) e.mov(kPreserved[i], 0x1111 * (i + 1));
  if (is_found_in_memory && shape.stack_register < 0) e.mov(x86::rbp, 0x2222);
  if (shape.stack_register >= 0) e.mov(x86::gpq(static_cast<std::uint32_t>(shape.stack_register)), 0x3333);
  for (int i = 0; i < shape.vectors; ++i) {
    const x86::Xmm xmm = x86::xmm(static_cast<std::uint32_t>(6 + i));
    shape.avx ? e.vpcmpeqd(xmm, xmm, xmm) : e.pcmpeqd(xmm, xmm);
  }
}

// f(a) = a + 1; k when a is k and there are more epilogs than k. With stack arguments, the first of them is
// a.
template <class E>
void emit_body(E& e, const Shape& shape, const FuncFrame& frame) {
  const x86::Gp argument = shape.stack_register < 0 ? x86::r9 : x86::rax;
  if (shape.stack_register < 0) e.mov(argument, first_argument(shape));
  scramble(e, shape);
  if (shape.locals != 0) e.mov(x86::qword_ptr(x86::rsp, static_cast<int>(shape.locals) - 8), argument);
  for (int exit = 0; exit + 1 < shape.epilogs; ++exit) {
    const asmjit::Label more = e.newLabel();
    e.cmp(argument, exit);
    e.jne(more);
    e.mov(x86::eax, exit);
    e.emitEpilog(frame);
    e.bind(more);
  }
  e.lea(x86::rax, x86::ptr(argument, 1));
  e.emitEpilog(frame);
}

inline FuncFrame unfinished_frame(const Shape& shape, const FuncDetail& detail) {
  FuncFrame frame;
  frame.init(detail);
  describe(frame, shape);
  frame.setLocalStackSize(shape.locals);
  if (shape.align > 16) frame.setLocalStackAlignment(shape.align);
  return frame;
}

// Without stack arguments.
inline FuncFrame frame_of(const Shape& shape) {
  FuncFrame frame = unfinished_frame(shape, detail_of(shape));
  frame.finalize();
  return frame;
}

// For an Assembler or a Builder. All that may be changed is changed.
template <class E>
void emit(E& e, const Shape& shape) {
  if (shape.is_small) e.addEncodingOptions(asmjit::EncodingOptions::kOptimizeForSize);
  const FuncDetail detail = detail_of(shape);
  FuncFrame frame = unfinished_frame(shape, detail);
  FuncArgsAssignment arguments(&detail);
  if (shape.stack_register >= 0) {
    arguments.assignRegInPack(6, 0, x86::rax);
    arguments.setSARegId(static_cast<std::uint32_t>(shape.stack_register));
    arguments.updateFuncFrame(frame);
  }
  frame.finalize();
  e.emitProlog(frame);
  if (shape.stack_register >= 0) e.emitArgsAssignment(frame, arguments);
  emit_body(e, shape, frame);
}

// Keeps `live` sums in registers at once, so that the Compiler needs preserved ones.
inline void emit_pressure(x86::Compiler& cc, const x86::Gp& argument, const x86::Gp& result, int live) {
  x86::Gp values[16];
  for (int i = 0; i < live; ++i) {
    values[i] = cc.newUInt64();
    cc.lea(values[i], x86::ptr(argument, i));
  }
  cc.mov(result, argument);
  for (int i = 0; i < live; ++i) cc.add(result, values[i]);
  for (int i = 0; i < live; ++i) cc.xor_(result, values[i]);
}

// The same function by a Compiler, whose returns all jump to one epilog. It does not allocate the registers
// that scramble() names, since so few values live at once.
inline void emit(x86::Compiler& cc, const Shape& shape) {
  if (shape.is_small) cc.addEncodingOptions(asmjit::EncodingOptions::kOptimizeForSize);
  const auto convention = shape.windows ? asmjit::CallConvId::kX64Windows : asmjit::CallConvId::kX64SystemV;
  const bool has_stack_arguments = shape.stack_register >= 0;
  asmjit::FuncNode* func = has_stack_arguments
                               ? cc.addFunc(FuncSignatureT<U, U, U, U, U, U, U, U, U>(convention))
                               : cc.addFunc(FuncSignatureT<U, U>(convention));
  describe(func->frame(), shape);
  const x86::Gp argument = cc.newUInt64();
  func->setArg(has_stack_arguments ? 6 : 0, argument);
  if (shape.locals != 0) {
    x86::Mem local = cc.newStack(shape.locals, shape.align);
    local.setSize(8);
    cc.mov(local, argument);
  }
  for (int exit = 0; exit + 1 < shape.epilogs; ++exit) {
    const asmjit::Label more = cc.newLabel();
    cc.cmp(argument, exit);
    cc.jne(more);
    cc.ret(argument);
    cc.bind(more);
  }
  scramble(cc, shape);
  const x86::Gp result = cc.newUInt64();
  cc.lea(result, x86::ptr(argument, 1));
  cc.ret(result);
  cc.endFunc();
}

}  // namespace shapes
