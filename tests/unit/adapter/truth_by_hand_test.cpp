// Frames of hand-written code, with its own push, pop, sub, leave and jumps.
#include <gtest/gtest.h>

#include "tests/unit/adapter/frame_reader.hpp"
#include "tests/unit/adapter/shapes.hpp"
#include "tests/unit/adapter/stepper.hpp"

using namespace shapes;

namespace {

template <class E>
class ByHand : public testing::Test {
 protected:
  void SetUp() override {
    capture::clear();
    ASSERT_EQ(code_.init(rt_.environment()), asmjit::kErrorOk);
    ASSERT_EQ(code_.attach(&e_), asmjit::kErrorOk);
  }
  capture::Code add() {
    EXPECT_EQ(e_.finalize(), asmjit::kErrorOk);
    EXPECT_EQ(rt_.add(&function_, &code_, jitquill::Announcement{.name = "by_hand"}), asmjit::kErrorOk);
    return capture::load_of("by_hand");
  }

  jitquill::JitRuntime rt_;
  CodeHolder code_;
  jitquill::Announced<E> e_;
  void* function_ = nullptr;
};

using Emitters = testing::Types<x86::Assembler, x86::Builder>;
TYPED_TEST_SUITE(ByHand, Emitters);

}  // namespace

TYPED_TEST(ByHand, ZeroToFivePreservedRegistersWithALoopAndTwoExits) {
  for (int saved = 0; saved <= 5; ++saved) {
    CodeHolder code;
    code.init(this->rt_.environment());
    jitquill::Announced<TypeParam> e(&code);
    const asmjit::Label loop = e.newLabel(), out = e.newLabel();
    for (int i = 0; i < saved; ++i) e.push(kPreserved[i]);
    e.sub(x86::rsp, 24);
    for (int i = 0; i < saved; ++i) e.mov(kPreserved[i], i);
    e.mov(x86::rax, x86::rdi);
    e.test(x86::rdi, x86::rdi);
    e.jz(out);
    e.bind(loop);
    e.add(x86::rax, 2);
    e.dec(x86::rdi);
    e.jnz(loop);
    e.push(x86::rax);  // an argument on the stack, as for a call
    e.pop(x86::rcx);
    e.add(x86::rsp, 24);
    for (int i = saved; i-- > 0;) e.pop(kPreserved[i]);
    e.ret();
    e.bind(out);
    e.mov(x86::eax, 9);
    e.add(x86::rsp, 24);
    for (int i = saved; i-- > 0;) e.pop(kPreserved[i]);
    e.ret();
    ASSERT_EQ(e.finalize(), asmjit::kErrorOk);
    void* function = nullptr;
    const std::string name = "saved_" + std::to_string(saved);
    ASSERT_EQ(this->rt_.add(&function, &code, jitquill::Announcement{.name = name.c_str()}),
              asmjit::kErrorOk);
    stepper::expect_true_frame(capture::load_of(name), {{0}, {3}});
  }
}

TYPED_TEST(ByHand, LeaveEndsAFramePointerFrame) {
  auto& e = this->e_;
  e.push(x86::rbp);
  e.mov(x86::rbp, x86::rsp);
  e.push(x86::rbx);
  e.sub(x86::rsp, 40);
  e.mov(x86::rbx, x86::rdi);
  e.lea(x86::rax, x86::ptr(x86::rbx, 1));
  e.mov(x86::rbx, x86::ptr(x86::rbp, -8));
  e.leave();
  e.ret();
  stepper::expect_true_frame(this->add(), {{1}});
}

TYPED_TEST(ByHand, FramePointerPoppedWithoutTouchingTheStackPointer) {
  auto& e = this->e_;
  e.push(x86::rbp);
  e.mov(x86::rbp, x86::rsp);
  e.mov(x86::rax, x86::rdi);
  e.pop(x86::rbp);
  e.ret();
  stepper::expect_true_frame(this->add(), {{1}});
}

TYPED_TEST(ByHand, FramePointerThatIsOverwrittenAfterwards) {
  auto& e = this->e_;
  e.push(x86::rbp);
  e.mov(x86::rbp, x86::rsp);
  e.sub(x86::rsp, 24);
  e.mov(x86::rbp, x86::rdi);
  e.lea(x86::rax, x86::ptr(x86::rbp, 1));
  e.add(x86::rsp, 24);
  e.pop(x86::rbp);
  e.ret();
  stepper::expect_true_frame(this->add(), {{1}});
}

TYPED_TEST(ByHand, AlignedStackUnderAFramePointer) {
  auto& e = this->e_;
  e.push(x86::rbp);
  e.mov(x86::rbp, x86::rsp);
  e.push(x86::rbx);
  e.and_(x86::rsp, -32);
  e.sub(x86::rsp, 96);
  e.push(x86::rdi);  // an argument on the stack, as for a call
  e.pop(x86::rbx);
  e.lea(x86::rax, x86::ptr(x86::rbx, 1));
  e.mov(x86::rbx, x86::ptr(x86::rbp, -8));
  e.leave();
  e.ret();
  stepper::expect_true_frame(this->add(), {{1}});
}

TYPED_TEST(ByHand, AlignedStackUnderAScratchRegister) {
  auto& e = this->e_;
  e.push(x86::rbx);
  e.mov(x86::r10, x86::rsp);
  e.and_(x86::rsp, -64);
  e.sub(x86::rsp, 128);
  e.mov(x86::rbx, x86::rdi);
  e.lea(x86::rax, x86::ptr(x86::rbx, 1));
  e.mov(x86::rsp, x86::r10);
  e.pop(x86::rbx);
  e.ret();
  stepper::expect_true_frame(this->add(), {{1}});
}

TYPED_TEST(ByHand, StackPointerGivenBackByACopy) {
  auto& e = this->e_;
  e.mov(x86::r10, x86::rsp);
  e.push(x86::rdi);
  e.sub(x86::rsp, 16);
  e.mov(x86::rsp, x86::r10);
  e.mov(x86::rax, x86::rdi);
  e.ret();
  stepper::expect_true_frame(this->add(), {{1}});
}

TYPED_TEST(ByHand, RegistersSavedByMov) {
  auto& e = this->e_;
  e.sub(x86::rsp, 24);
  e.mov(x86::ptr(x86::rsp, 8), x86::r12);
  e.mov(x86::ptr(x86::rsp, 16), x86::rbx);
  e.mov(x86::r12, 5);
  e.mov(x86::rbx, 6);
  e.mov(x86::rbx, x86::ptr(x86::rsp, 16));
  e.mov(x86::r12, x86::ptr(x86::rsp, 8));
  e.add(x86::rsp, 24);
  e.ret();
  stepper::expect_true_frame(this->add(), {{1}});
}

TYPED_TEST(ByHand, FastPathInFrontOfTheProlog) {
  auto& e = this->e_;
  const asmjit::Label slow = e.newLabel();
  const Shape shape{.pushes = 4, .locals = 64};
  e.test(x86::rdi, x86::rdi);
  e.jnz(slow);
  e.xor_(x86::eax, x86::eax);
  e.ret();
  e.bind(slow);
  emit(e, shape);
  EXPECT_EQ(this->rt_.refused_count(), 0u);
  stepper::expect_true_frame(this->add(), {{0}, {1}});
}

TYPED_TEST(ByHand, EpilogWithTailJump) {
  auto& e = this->e_;
  const asmjit::Label other = e.newLabel();
  e.push(x86::rbx);
  e.mov(x86::rbx, x86::rdi);
  e.lea(x86::rdi, x86::ptr(x86::rbx, 1));
  e.pop(x86::rbx);
  e.jmp(other);
  e.bind(other);
  e.mov(x86::rax, x86::rdi);
  e.ret();
  stepper::expect_true_frame(this->add(), {{1}});
}

TYPED_TEST(ByHand, TrapsBehindAnExitAreNotReached) {
  auto& e = this->e_;
  const asmjit::Label bad = e.newLabel();
  e.push(x86::rbx);
  e.test(x86::rdi, x86::rdi);
  e.js(bad);
  e.mov(x86::rbx, x86::rdi);
  e.pop(x86::rbx);
  e.ret();
  e.int3();
  e.bind(bad);
  e.ud2();
  const capture::Code code = this->add();
  ASSERT_TRUE(code.unwinding);
  EXPECT_EQ(stepper::first_mismatch(code, code.frame, stepper::run(code, {1})), "");
  // At the trap, 2 bytes before the end, rbx is still on the stack.
  const frames::Frame frame = frames::frame_at(code.frame, static_cast<std::uint32_t>(code.size) - 2);
  EXPECT_TRUE(frame.valid);
  EXPECT_EQ(frame.depth, 16);
  EXPECT_EQ(frame.below[3], 16);
}
