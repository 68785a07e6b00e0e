// Without an agent the runtime is asmjit's own.
#include <gtest/gtest.h>

#include <jitquill/asmjit.hpp>

#include <vector>

namespace x86 = asmjit::x86;

namespace {

using Function = int (*)();

void emit_function(asmjit::CodeHolder& code, asmjit::Environment environment) {
  code.init(environment);
  x86::Assembler a(&code);
  a.mov(x86::eax, 42);
  a.ret();
}

}  // namespace

TEST(Alone, NobodyWantsCode) {
  EXPECT_EQ(jitquill_wants_code(), 0);
  jitquill_code code{};
  EXPECT_EQ(jitquill_code_loaded(&code, nullptr), JITQUILL_NO_AGENT);
}

TEST(Alone, SameMemoryAsAsmjitAlone) {
  jitquill::JitRuntime ours;
  asmjit::JitRuntime theirs;
  for (int i = 0; i < 500; ++i) {
    asmjit::CodeHolder first, second;
    emit_function(first, ours.environment());
    emit_function(second, theirs.environment());
    Function a = nullptr, b = nullptr;
    ASSERT_EQ(ours.add(&a, &first, jitquill::Announcement{.name = "f", .first_line = 1}), asmjit::kErrorOk);
    ASSERT_EQ(theirs.add(&b, &second), asmjit::kErrorOk);
    EXPECT_EQ(a(), b());
    if (i % 7 == 0) {
      EXPECT_EQ(ours.release(a), asmjit::kErrorOk);
      EXPECT_EQ(theirs.release(b), asmjit::kErrorOk);
    }
  }
  EXPECT_EQ(ours.allocator()->statistics().usedSize(), theirs.allocator()->statistics().usedSize());
  EXPECT_EQ(ours.refused_count(), 0u);
  ours.reset();
  EXPECT_EQ(ours.allocator()->statistics().usedSize(), 0u);
}

TEST(Alone, CodeMoves) {
  jitquill::JitRuntime rt;
  asmjit::CodeHolder first, second;
  emit_function(first, rt.environment());
  emit_function(second, rt.environment());
  Function a = nullptr, b = nullptr;
  const jitquill::Announcement movable{.name = "f", .may_move = true};
  ASSERT_EQ(rt.add(&a, &first, movable), asmjit::kErrorOk);
  ASSERT_EQ(rt.add(&b, &second, movable), asmjit::kErrorOk);
  ASSERT_EQ(rt.release(a), asmjit::kErrorOk);
  void* moved = reinterpret_cast<void*>(b);
  ASSERT_TRUE(rt.move_down(&moved));
  EXPECT_EQ(moved, reinterpret_cast<void*>(a));
  EXPECT_EQ(reinterpret_cast<Function>(moved)(), 42);
  EXPECT_EQ(rt.release(moved), asmjit::kErrorOk);
  EXPECT_EQ(rt.allocator()->statistics().usedSize(), 0u);
}

TEST(Alone, AnnouncedEmittersMakeTheSameBytes) {
  std::vector<std::uint8_t> bytes[2];
  const auto emit = [](auto& e) {
    asmjit::FuncDetail detail;
    detail.init(asmjit::FuncSignatureT<int>(), asmjit::Environment::host());
    asmjit::FuncFrame frame;
    frame.init(detail);
    frame.addDirtyRegs(x86::rbx, x86::r12);
    frame.finalize();
    e.emitProlog(frame);
    e.mov(x86::eax, 42);
    e.emitEpilog(frame);
    e.finalize();
  };
  asmjit::CodeHolder plain, announced;
  plain.init(asmjit::Environment::host());
  announced.init(asmjit::Environment::host());
  x86::Builder a(&plain);
  jitquill::Announced<x86::Builder> b(&announced);
  emit(a);
  emit(b);
  const asmjit::CodeBuffer& one = plain.textSection()->buffer();
  const asmjit::CodeBuffer& two = announced.textSection()->buffer();
  EXPECT_EQ(std::vector<std::uint8_t>(one.data(), one.data() + one.size()),
            std::vector<std::uint8_t>(two.data(), two.data() + two.size()));
}
