// What cannot be described is announced without unwinding, counted, and works.
#include <gtest/gtest.h>

#include <functional>
#include <ostream>

#include "tests/unit/adapter/capture.hpp"
#include "tests/unit/adapter/shapes.hpp"

using namespace shapes;
using jitquill::Refusal;

namespace {

using Assembler = jitquill::Announced<x86::Assembler>;

struct Case {
  const char* name;
  Refusal refusal;
  std::function<void(Assembler&)> emit;
};
void PrintTo(const Case& one, std::ostream* out) {
  *out << one.name;
}

class Refuse : public testing::TestWithParam<Case> {};

void jump_into_unequal_frame(Assembler& a) {
  const asmjit::Label here = a.newLabel();
  a.test(x86::rdi, x86::rdi);
  a.jz(here);
  a.push(x86::rbx);
  a.bind(here);
  a.ret();
}

}  // namespace

TEST_P(Refuse, AnnouncedWithoutUnwinding) {
  capture::clear();
  jitquill::JitRuntime rt;
  CodeHolder code;
  ASSERT_EQ(code.init(rt.environment()), asmjit::kErrorOk);
  Assembler a(&code);
  GetParam().emit(a);
  void* function = nullptr;
  ASSERT_EQ(rt.add(&function, &code, jitquill::Announcement{.name = "odd"}), asmjit::kErrorOk);
  const capture::Code seen = capture::load_of("odd");
  EXPECT_FALSE(seen.unwinding);
  EXPECT_TRUE(seen.frame.empty());
  EXPECT_EQ(rt.refused_count(), 1u);
  EXPECT_EQ(rt.last_refusal(), GetParam().refusal) << jitquill::refusal_text(rt.last_refusal());
}

INSTANTIATE_TEST_SUITE_P(Cases, Refuse,
                         testing::Values(Case{"alloca", Refusal::kStackPointer,
                                              [](Assembler& a) {
                                                a.sub(x86::rsp, x86::rdi);
                                                a.add(x86::rsp, x86::rdi);
                                                a.ret();
                                              }},
                                         Case{"aligned", Refusal::kDynamicAlignment,
                                              [](Assembler& a) {
                                                a.and_(x86::rsp, -64);
                                                a.ret();
                                              }},
                                         Case{"exchanged", Refusal::kStackPointer,
                                              [](Assembler& a) {
                                                a.xchg(x86::rax, x86::rsp);
                                                a.ret();
                                              }},
                                         Case{"clobbered", Refusal::kClobbered,
                                              [](Assembler& a) {
                                                a.mov(x86::ebx, 1);
                                                a.push(x86::rbx);
                                                a.pop(x86::rbx);
                                                a.ret();
                                              }},
                                         Case{"clobbered_by_cpuid", Refusal::kClobbered,
                                              [](Assembler& a) {
                                                a.cpuid();
                                                a.ret();
                                              }},
                                         Case{"given_up", Refusal::kLostSave,
                                              [](Assembler& a) {
                                                a.push(x86::rbx);
                                                a.add(x86::rsp, 8);
                                                a.ret();
                                              }},
                                         Case{"risen", Refusal::kUnderflow,
                                              [](Assembler& a) {
                                                a.pop(x86::rcx);
                                                a.jmp(x86::rcx);
                                              }},
                                         Case{"frame_pointer", Refusal::kFramePointer,
                                              [](Assembler& a) {
                                                a.push(x86::rbp);
                                                a.mov(x86::rbp, x86::rsp);
                                                a.and_(x86::rsp, -32);
                                                a.inc(x86::rbp);
                                                a.leave();
                                                a.ret();
                                              }},
                                         Case{"frame_register_lost_in_a_call", Refusal::kFramePointer,
                                              [](Assembler& a) {
                                                a.mov(x86::r10, x86::rsp);
                                                a.and_(x86::rsp, -32);
                                                a.call(x86::rdi);
                                                a.mov(x86::rsp, x86::r10);
                                                a.ret();
                                              }},
                                         Case{"copy_overwritten", Refusal::kDynamicAlignment,
                                              [](Assembler& a) {
                                                a.mov(x86::r10, x86::rsp);
                                                a.mov(x86::r10, x86::rdi);
                                                a.and_(x86::rsp, -32);
                                                a.ret();
                                              }},
                                         Case{"copy_of_another_depth", Refusal::kDynamicAlignment,
                                              [](Assembler& a) {
                                                a.mov(x86::r10, x86::rsp);
                                                a.sub(x86::rsp, 24);
                                                a.and_(x86::rsp, -32);
                                                a.mov(x86::rsp, x86::r10);
                                                a.ret();
                                              }},
                                         Case{"push_while_in_memory", Refusal::kFrameInMemory,
                                              [](Assembler& a) {
                                                a.mov(x86::r10, x86::rsp);
                                                a.and_(x86::rsp, -32);
                                                a.sub(x86::rsp, 64);
                                                a.mov(x86::ptr(x86::rsp, 40), x86::r10);
                                                a.push(x86::rdi);
                                                a.pop(x86::rdi);
                                                a.mov(x86::rsp, x86::ptr(x86::rsp, 40));
                                                a.ret();
                                              }},
                                         Case{"another_word", Refusal::kFrameInMemory,
                                              [](Assembler& a) {
                                                a.mov(x86::r10, x86::rsp);
                                                a.and_(x86::rsp, -32);
                                                a.sub(x86::rsp, 64);
                                                a.mov(x86::ptr(x86::rsp, 40), x86::r10);
                                                a.mov(x86::rsp, x86::ptr(x86::rsp, 32));
                                                a.ret();
                                              }},
                                         Case{"saved_below_the_alignment", Refusal::kDynamicAlignment,
                                              [](Assembler& a) {
                                                a.push(x86::rbp);
                                                a.mov(x86::rbp, x86::rsp);
                                                a.and_(x86::rsp, -32);
                                                a.push(x86::rbx);
                                                a.mov(x86::ebx, 1);
                                                a.pop(x86::rbx);
                                                a.leave();
                                                a.ret();
                                              }},
                                         Case{"given_up_above_the_alignment", Refusal::kLostSave,
                                              [](Assembler& a) {
                                                a.push(x86::rbp);
                                                a.mov(x86::rbp, x86::rsp);
                                                a.and_(x86::rsp, -32);
                                                a.add(x86::rsp, 8);
                                                a.leave();
                                                a.ret();
                                              }},
                                         Case{"unreached", Refusal::kUnknownState,
                                              [](Assembler& a) {
                                                a.ret();
                                                a.nop();
                                                a.ret();
                                              }},
                                         Case{"unequal", Refusal::kUnequalStates, jump_into_unequal_frame},
                                         Case{"rewritten", Refusal::kRewritten,
                                              [](Assembler& a) {
                                                a.push(x86::rbx);
                                                a.setOffset(0);
                                                a.push(x86::r12);
                                                a.ret();
                                              }}),
                         [](const testing::TestParamInfo<Case>& one) { return std::string(one.param.name); });

TEST(RefuseCompiler, BodyThatWasChangedAfterwards) {
  capture::clear();
  jitquill::JitRuntime rt;
  CodeHolder code;
  code.init(rt.environment());
  x86::Compiler cc(&code);
  cc.addFunc(FuncSignatureT<void>());
  cc.push(asmjit::imm(5));
  cc.add(x86::rsp, 8);
  cc.ret();
  cc.endFunc();
  ASSERT_EQ(cc.finalize(), asmjit::kErrorOk);
  ASSERT_EQ(code.textSection()->buffer().data()[0], 0x6A);  // push 5 becomes push 4
  code.textSection()->buffer().data()[1] ^= 1;
  void* function = nullptr;
  ASSERT_EQ(rt.add(&function, &code), asmjit::kErrorOk);
  EXPECT_EQ(rt.last_refusal(), Refusal::kBodyMovesStack);
}

TEST(RefuseCompiler, PrologThatWasChangedAfterwards) {
  capture::clear();
  jitquill::JitRuntime rt;
  CodeHolder code;
  code.init(rt.environment());
  x86::Compiler cc(&code);
  asmjit::FuncNode* func = cc.addFunc(FuncSignatureT<void>());
  func->frame().setPreservedFP();
  cc.ret();
  cc.endFunc();
  ASSERT_EQ(cc.finalize(), asmjit::kErrorOk);
  code.textSection()->buffer().data()[0] ^= 1;  // push rbp becomes push rsp
  void* function = nullptr;
  ASSERT_EQ(rt.add(&function, &code), asmjit::kErrorOk);
  EXPECT_EQ(rt.last_refusal(), Refusal::kBytesDiffer);
}

TEST(RefuseDetached, EmitterIsGone) {
  capture::clear();
  jitquill::JitRuntime rt;
  CodeHolder code;
  code.init(rt.environment());
  {
    x86::Assembler a(&code);
    a.ret();
  }
  void (*function)() = nullptr;
  ASSERT_EQ(rt.add(&function, &code), asmjit::kErrorOk);
  function();
  EXPECT_EQ(rt.last_refusal(), Refusal::kNoFrame);
  EXPECT_FALSE(capture::loads().at(0).unwinding);
}
