// Frames of prologs and epilogs that asmjit makes, checked against the running processor.
#include <gtest/gtest.h>

#include <ostream>

#include "tests/unit/adapter/shape_check.hpp"

using namespace shapes;

namespace {

class Truth : public testing::Test {
 protected:
  void SetUp() override {
    capture::clear();
    ASSERT_EQ(code_.init(rt_.environment()), asmjit::kErrorOk);
  }

  // Adds what is in code_ and returns what was announced.
  capture::Code add(const std::string& name) {
    EXPECT_EQ(rt_.add(&function_, &code_, jitquill::Announcement{.name = name.c_str()}), asmjit::kErrorOk);
    return capture::load_of(name);
  }

  jitquill::JitRuntime rt_;
  CodeHolder code_;
  void* function_ = nullptr;
};

template <class E>
void check_all_pushes(jitquill::JitRuntime& rt) {
  for (int pushes = 0; pushes <= 6; ++pushes) {
    for (const bool frame_pointer : {false, true}) {
      for (const std::uint32_t locals : {0u, 40u, 5000u}) {
        for (const int epilogs : {1, 2})
          check<E>(rt,
                   {.pushes = pushes, .frame_pointer = frame_pointer, .locals = locals, .epilogs = epilogs});
      }
    }
  }
}

struct CompilerShape {
  int live = 1;
  bool frame_pointer = false;
  std::uint32_t locals = 0;
  bool calls = false;
  int returns = 1;
  bool out_of_line = false;
};

void PrintTo(const CompilerShape& shape, std::ostream* out) {
  *out << shape.live << "_live" << (shape.frame_pointer ? "_fp" : "") << "_locals_" << shape.locals
       << (shape.calls ? "_calls" : "") << "_returns_" << shape.returns << (shape.out_of_line ? "_cold" : "");
}

std::uint64_t plus_one(std::uint64_t value) {
  return value + 1;
}

void emit_calls_and_locals(x86::Compiler& cc, const x86::Gp& value, const CompilerShape& shape) {
  if (shape.locals != 0) {
    x86::Mem locals = cc.newStack(shape.locals, 16);
    locals.setSize(8);
    cc.mov(locals, value);
    cc.add(value, locals);
  }
  if (shape.calls) {
    asmjit::InvokeNode* invoke = nullptr;
    cc.invoke(&invoke, reinterpret_cast<std::uint64_t>(&plus_one),
              FuncSignatureT<std::uint64_t, std::uint64_t>());
    invoke->setArg(0, value);
    invoke->setRet(0, value);
  }
}

void emit_compiler(x86::Compiler& cc, const CompilerShape& shape) {
  asmjit::FuncNode* func = cc.addFunc(FuncSignatureT<std::uint64_t, std::uint64_t>());
  if (shape.frame_pointer) func->frame().setPreservedFP();
  const x86::Gp argument = cc.newUInt64(), result = cc.newUInt64();
  func->setArg(0, argument);
  const asmjit::Label slow = cc.newLabel(), back = cc.newLabel();
  if (shape.out_of_line) {
    cc.test(argument, argument);
    cc.jz(slow);
    cc.bind(back);
  }
  if (shape.returns == 2) {
    const asmjit::Label more = cc.newLabel();
    cc.test(argument, argument);
    cc.jnz(more);
    cc.ret(argument);
    cc.bind(more);
  }
  emit_calls_and_locals(cc, argument, shape);
  emit_pressure(cc, argument, result, shape.live);
  cc.ret(result);
  if (shape.out_of_line) {
    asmjit::BaseNode* before = cc.setCursor(func->exitNode());
    cc.bind(slow);
    cc.mov(argument, 77);
    cc.jmp(back);
    cc.setCursor(before);
  }
  cc.endFunc();
}

}  // namespace

TEST_F(Truth, AssemblerPrologsAndEpilogs) {
  check_all_pushes<x86::Assembler>(rt_);
}

TEST_F(Truth, BuilderPrologsAndEpilogs) {
  check_all_pushes<x86::Builder>(rt_);
}

class CompilerTruth : public Truth, public testing::WithParamInterface<CompilerShape> {};

TEST_P(CompilerTruth, EveryInstruction) {
  for (const SiteState state : kSiteStates) {
    capture::clear();
    code_.reset();
    ASSERT_EQ(code_.init(rt_.environment()), asmjit::kErrorOk);
    x86::Compiler cc(&code_);
    set_sites(cc, state);
    emit_compiler(cc, GetParam());
    ASSERT_EQ(cc.finalize(), asmjit::kErrorOk);
    expect_true_frame(add("compiled"), {{0}, {5}}, state);
    EXPECT_EQ(rt_.refused_count(), 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, CompilerTruth,
    testing::Values(CompilerShape{},                       //
                    CompilerShape{.locals = 32},           //
                    CompilerShape{.live = 9},              //
                    CompilerShape{.live = 11},             //
                    CompilerShape{.live = 14},             //
                    CompilerShape{.frame_pointer = true},  //
                    CompilerShape{.live = 12, .frame_pointer = true}, CompilerShape{.locals = 5000},
                    CompilerShape{.live = 12, .frame_pointer = true, .locals = 5000},
                    CompilerShape{.live = 4, .calls = true},
                    CompilerShape{.live = 14, .locals = 64, .calls = true, .returns = 2},
                    CompilerShape{.live = 14, .returns = 2},
                    CompilerShape{.live = 13, .returns = 2, .out_of_line = true},
                    CompilerShape{.live = 13, .frame_pointer = true, .locals = 40, .out_of_line = true}));

TEST_F(Truth, CompilerWithEightArguments) {
  x86::Compiler cc(&code_);
  asmjit::FuncNode* func = cc.addFunc(FuncSignatureT<U, U, U, U, U, U, U, U, U>());
  const x86::Gp sum = cc.newUInt64();
  x86::Gp arguments[8];
  for (std::uint32_t i = 0; i < 8; ++i) {
    arguments[i] = cc.newUInt64();
    func->setArg(i, arguments[i]);
  }
  cc.xor_(sum, sum);
  for (const x86::Gp& argument : arguments) cc.add(sum, argument);
  emit_pressure(cc, sum, arguments[0], 12);
  cc.ret(sum);
  cc.endFunc();
  ASSERT_EQ(cc.finalize(), asmjit::kErrorOk);
  const capture::Code code = add("eight");
  stepper::expect_true_frame(code, {{1, 2, 3, 4, 5, 6, 7, 8}});
  EXPECT_EQ(stepper::run(code, {1, 2, 3, 4, 5, 6, 7, 8}).result, 36u);
}
