// Epilogs that end in a jump to another function, and Compiler functions that move the stack pointer
// themselves.
#include "tests/unit/adapter/shape_check.hpp"

namespace shapes {
namespace {

constexpr Shape kShapes[] = {{.pushes = 3, .locals = 40},
                             {.pushes = 2, .frame_pointer = true, .locals = 64},
                             {.pushes = 6, .locals = 64, .align = 32},
                             {.pushes = 2, .frame_pointer = true, .locals = 64, .align = 64}};

std::uint64_t times_ten(std::uint64_t value) {
  return value * 10;
}

class TailCalls : public testing::Test {
 protected:
  void SetUp() override { capture::clear(); }
  // Adds what `emit` makes and steps it once for each argument. The results must be `expected`.
  template <class E, class Emit>
  void expect_truth(Emit emit, std::initializer_list<std::uint64_t> arguments,
                    std::initializer_list<std::uint64_t> expected) {
    for (const SiteState state : kSiteStates) expect_truth<E>(emit, arguments, expected, state);
  }
  template <class E, class Emit>
  void expect_truth(Emit emit, std::initializer_list<std::uint64_t> arguments,
                    std::initializer_list<std::uint64_t> expected, SiteState state) {
    CodeHolder code;
    ASSERT_EQ(code.init(rt_.environment()), asmjit::kErrorOk);
    Emitter<E> e(&code);
    if constexpr (std::is_same_v<E, x86::Compiler>) {
      ASSERT_EQ(jitquill::add_tail_pass(e), asmjit::kErrorOk);
    }
    set_sites(e, state);
    emit(e);
    ASSERT_EQ(e.finalize(), asmjit::kErrorOk);
    void* function = nullptr;
    ASSERT_EQ(rt_.add(&function, &code, jitquill::Announcement{.name = "tail"}), asmjit::kErrorOk);
    const capture::Code seen = capture::load_of("tail");
    ASSERT_TRUE(seen.unwinding) << jitquill::refusal_text(rt_.last_refusal());
    stepper::Arguments calls;
    for (const std::uint64_t argument : arguments) {
      calls.push_back({argument});
      EXPECT_EQ(stepper::run(seen, calls.back()).result, expected.begin()[calls.size() - 1]);
    }
    expect_true_frame(seen, calls, state);
    capture::clear();
  }
  jitquill::JitRuntime rt_;
};

// times_ten(a + 1) by a jump; 1 when a is 0.
template <class E>
void emit_tail_call(E& e, const Shape& shape) {
  const FuncFrame frame = frame_of(shape);
  const asmjit::Label more = e.newLabel();
  e.emitProlog(frame);
  scramble(e, shape);
  e.inc(x86::rdi);
  e.cmp(x86::rdi, 1);
  e.je(more);
  e.emit_tail_epilog(frame);
  e.jmp(asmjit::imm(reinterpret_cast<std::uint64_t>(&times_ten)));
  e.bind(more);
  e.mov(x86::rax, x86::rdi);
  e.emitEpilog(frame);
}

void emit_marked_call(x86::Compiler& cc, const x86::Gp& argument) {
  asmjit::InvokeNode* invoke = nullptr;
  cc.invoke(&invoke, reinterpret_cast<std::uint64_t>(&times_ten), FuncSignatureT<U, U>());
  invoke->setArg(0, argument);
  invoke->setRet(0, argument);
  jitquill::mark_tail_call(invoke);
  cc.ret(argument);
}

// The same function by a Compiler. With `is_last` the tail call is the only exit, and the epilog behind it
// dead.
void emit_tail_call(x86::Compiler& cc, const Shape& shape, bool is_last) {
  asmjit::FuncNode* func = cc.addFunc(FuncSignatureT<U, U>());
  describe(func->frame(), shape);
  const x86::Gp argument = cc.newUInt64();
  func->setArg(0, argument);
  x86::Mem local = cc.newStack(shape.locals, shape.align);
  local.setSize(8);
  cc.mov(local, argument);
  scramble(cc, shape);
  cc.inc(argument);
  if (!is_last) {
    const asmjit::Label more = cc.newLabel();
    cc.cmp(argument, 1);
    cc.jne(more);
    cc.ret(argument);
    cc.bind(more);
  }
  emit_marked_call(cc, argument);
  cc.endFunc();
}

}  // namespace

TEST_F(TailCalls, Assembler) {
  for (const Shape& shape : kShapes)
    expect_truth<x86::Assembler>([&](auto& e) { emit_tail_call(e, shape); }, {0, 5}, {1, 60});
}

TEST_F(TailCalls, Builder) {
  for (const Shape& shape : kShapes)
    expect_truth<x86::Builder>([&](auto& e) { emit_tail_call(e, shape); }, {0, 5}, {1, 60});
}

TEST_F(TailCalls, CompilerWithAPassBehindTheRegisterAllocator) {
  for (const Shape& shape : kShapes)
    expect_truth<x86::Compiler>([&](auto& cc) { emit_tail_call(cc, shape, false); }, {0, 5}, {1, 60});
}

TEST_F(TailCalls, CompilerBodyThatPushes) {
  const auto emit_pushes = [](x86::Compiler& cc) {
    asmjit::FuncNode* func = cc.addFunc(FuncSignatureT<U, U>());
    describe(func->frame(), {.pushes = 2});
    const x86::Gp argument = cc.newUInt64();
    func->setArg(0, argument);
    scramble(cc, {.pushes = 2});
    cc.push(asmjit::imm(5));
    cc.push(argument);
    cc.pop(x86::r11);
    cc.add(x86::rsp, 8);
    cc.inc(argument);
    cc.ret(argument);
    cc.endFunc();
  };
  expect_truth<x86::Compiler>(emit_pushes, {1}, {2});
}

TEST_F(TailCalls, SeveralFunctionsOfOneCompilerWithConstantsAndData) {
  CodeHolder code;
  ASSERT_EQ(code.init(rt_.environment()), asmjit::kErrorOk);
  asmjit::Section* data = nullptr;
  ASSERT_EQ(code.newSection(&data, ".data", SIZE_MAX, asmjit::SectionFlags::kNone, 8), asmjit::kErrorOk);
  x86::Compiler cc(&code);
  ASSERT_EQ(jitquill::add_tail_pass(cc), asmjit::kErrorOk);
  set_sites(cc, SiteState::kOn);
  emit_tail_call(cc, kShapes[0], true);
  cc.align(asmjit::AlignMode::kCode, 64);
  cc.bind(cc.newNamedLabel("second"));
  asmjit::FuncNode* func = cc.addFunc(FuncSignatureT<U, U>());
  describe(func->frame(), {.pushes = 2});
  const x86::Gp argument = cc.newUInt64();
  func->setArg(0, argument);
  cc.add(argument, cc.newUInt64Const(asmjit::ConstPoolScope::kLocal, 0x1234567890));
  scramble(cc, {.pushes = 2});
  cc.push(asmjit::imm(5));
  cc.add(x86::rsp, 8);
  cc.ret(argument);
  cc.endFunc();
  cc.section(data);
  cc.embedUInt64(7, 3);
  ASSERT_EQ(cc.finalize(), asmjit::kErrorOk);
  void* function = nullptr;
  ASSERT_EQ(rt_.add(&function, &code, jitquill::Announcement{.name = "first"}), asmjit::kErrorOk);
  EXPECT_EQ(rt_.refused_count(), 0u) << jitquill::refusal_text(rt_.last_refusal());
  const capture::Code second = capture::load_of("second");
  EXPECT_EQ(stepper::run(second, {4}).result, 0x1234567894u);
  stepper::expect_true_frame(second, {{4}});
  // Behind the first one's tail call lies asmjit's own epilog, which nothing reaches.
  const capture::Code first = capture::load_of("first");
  ASSERT_TRUE(first.unwinding);
  const stepper::Trace trace = stepper::run(first, {4});
  EXPECT_EQ(trace.result, 50u);
  EXPECT_EQ(stepper::first_mismatch(first, first.frame, trace), "");
}

}  // namespace shapes
