// Functions of many frame shapes, made with each kind of emitter.
//
// Context   tests.
#pragma once

#include <jitquill/asmjit.hpp>

#include <cstdint>

namespace shapes {

using asmjit::CodeHolder;
using asmjit::Error;
using asmjit::FuncDetail;
using asmjit::FuncFrame;
using asmjit::FuncSignatureT;
namespace x86 = asmjit::x86;

inline constexpr x86::Gp kPreserved[] = {x86::rbx, x86::r12, x86::r13, x86::r14, x86::r15, x86::rbp};

struct Shape {
  int pushes = 0;  // of kPreserved
  bool frame_pointer = false;
  std::uint32_t locals = 0;
  int epilogs = 1;  // 1 or 2
};

inline FuncFrame frame_of(const Shape& shape) {
  FuncDetail detail;
  detail.init(FuncSignatureT<std::uint64_t, std::uint64_t>(), asmjit::Environment::host());
  FuncFrame frame;
  frame.init(detail);
  for (int i = 0; i < shape.pushes; ++i) frame.addDirtyRegs(kPreserved[i]);
  if (shape.frame_pointer) frame.setPreservedFP();
  frame.setLocalStackSize(shape.locals);
  frame.finalize();
  return frame;
}

// f(a) = a + 1, or 7 when a is 0 and there are two epilogs. All that may be changed is changed.
template <class E>
void emit(E& e, const Shape& shape) {
  const FuncFrame frame = frame_of(shape);
  e.emitProlog(frame);
  for (int i = 0; i < shape.pushes; ++i)
    if (!(shape.frame_pointer && kPreserved[i] == x86::rbp)) e.mov(kPreserved[i], 0x1111 * (i + 1));
  if (shape.locals != 0) e.mov(x86::qword_ptr(x86::rsp, static_cast<int>(shape.locals) - 8), x86::rdi);
  if (shape.epilogs == 2) {
    const asmjit::Label more = e.newLabel();
    e.test(x86::rdi, x86::rdi);
    e.jnz(more);
    e.mov(x86::eax, 7);
    e.emitEpilog(frame);
    e.bind(more);
  }
  e.lea(x86::rax, x86::ptr(x86::rdi, 1));
  e.emitEpilog(frame);
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

}  // namespace shapes
