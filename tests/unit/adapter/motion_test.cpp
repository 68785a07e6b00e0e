// Code that moves: it computes the same at its new place, the agent knows, and the old memory is free.
#include <cstdlib>
#include <cstring>

#include "tests/unit/adapter/shape_check.hpp"

namespace shapes {
namespace {

using Function = std::int64_t (*)(std::int64_t);

extern "C" std::int64_t far_from_jitted_code(std::int64_t n) {
  return n * 3;
}

// |n| by libc, three times that by this program, plus a constant and one of 3 cases of a jump table.
void emit_all_kinds(x86::Compiler& cc) {
  asmjit::FuncNode* const func = cc.addFunc(FuncSignatureT<std::int64_t, std::int64_t>());
  const x86::Gp n = cc.newInt64(), chosen = cc.newInt64(), table = cc.newUIntPtr(), target = cc.newUIntPtr();
  func->setArg(0, n);
  for (const Function callee : {Function{&::labs}, Function{&far_from_jitted_code}}) {
    asmjit::InvokeNode* call = nullptr;
    cc.invoke(&call, asmjit::imm(reinterpret_cast<std::uint64_t>(callee)),
              FuncSignatureT<std::int64_t, std::int64_t>());
    call->setArg(0, n);
    call->setRet(0, n);
  }
  const x86::Mem constant = cc.newInt64Const(asmjit::ConstPoolScope::kLocal, 1'000'000'007'000);
  cc.add(n, constant);
  const asmjit::Label cases[] = {cc.newLabel(), cc.newLabel(), cc.newLabel()};
  const asmjit::Label end = cc.newLabel(), rows = cc.newLabel();
  asmjit::JumpAnnotation* const annotation = cc.newJumpAnnotation();
  for (const asmjit::Label& each : cases) annotation->addLabel(each);
  cc.mov(chosen, n);
  cc.and_(chosen, 1);
  cc.lea(table, x86::ptr(rows));
  cc.mov(target, x86::ptr(table, chosen, 3));
  cc.jmp(target, annotation);
  for (int i = 0; i < 3; ++i) {
    cc.bind(cases[i]);
    cc.add(n, 10 * (i + 1));
    cc.jmp(end);
  }
  cc.bind(end);
  cc.ret(n);
  cc.endFunc();
  cc.bind(rows);
  for (const asmjit::Label& each : cases) cc.embedLabel(each);
}

std::int64_t expected(std::int64_t n) {
  const std::int64_t sum = std::labs(n) * 3 + 1'000'000'007'000;
  return sum + (sum % 2 == 0 ? 10 : 20);
}

class Motion : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    capture::clear();
    params_.options =
        GetParam() ? asmjit::JitAllocatorOptions::kUseDualMapping : asmjit::JitAllocatorOptions::kNone;
  }
  void* add(const char* name, bool may_move = true) {
    CodeHolder code;
    code.init(rt_.environment());
    x86::Compiler cc(&code);
    jitquill::add_site_pass(cc, jitquill::SitePolicy::kAlways);
    emit_all_kinds(cc);
    EXPECT_EQ(cc.finalize(), asmjit::kErrorOk);
    void* placed = nullptr;
    EXPECT_EQ(rt_.add(&placed, &code, jitquill::Announcement{.name = name, .may_move = may_move}),
              asmjit::kErrorOk);
    return placed;
  }
  static std::int64_t call(void* function, std::int64_t n) { return reinterpret_cast<Function>(function)(n); }

  asmjit::JitAllocator::CreateParams params_{};
  jitquill::JitRuntime rt_{(SetUp(), &params_)};
};

TEST_P(Motion, ComputesTheSame) {
  void* const hole = add("hole");
  void* function = add("f");
  const capture::Code before = capture::load_of("f");
  EXPECT_EQ(call(function, -5), expected(-5));
  EXPECT_NE(before.flags & JITQUILL_CODE_MAY_MOVE, 0u);
  ASSERT_EQ(rt_.release(hole), asmjit::kErrorOk);
  capture::clear();
  void* const old = function;
  ASSERT_TRUE(rt_.move_down(&function));
  EXPECT_EQ(function, hole);
  std::memset(before.writable, 0xCC, before.size);  // the old place is free
  for (const std::int64_t n : {-5, 0, 1, 2, 1000}) EXPECT_EQ(call(function, n), expected(n)) << n;
  const auto moves = capture::moves();
  ASSERT_EQ(moves.size(), 1u);
  EXPECT_EQ(moves[0].from, old);
  EXPECT_EQ(moves[0].to, function);
  EXPECT_EQ(moves[0].room, before.room);
  EXPECT_EQ(std::memcmp(moves[0].writable, function, before.size), 0);
  EXPECT_TRUE(capture::unloads().empty());
  ASSERT_EQ(rt_.release(function), asmjit::kErrorOk);
  EXPECT_EQ(capture::unloads(), std::vector<const void*>{function});
}

TEST_P(Motion, SitesWorkAtTheNewPlace) {
  void* const hole = add("hole");
  void* function = add("f");
  capture::Code code = capture::load_of("f");
  ASSERT_EQ(rt_.release(hole), asmjit::kErrorOk);
  ASSERT_TRUE(rt_.move_down(&function));
  code.addr = static_cast<const std::uint8_t*>(function);
  code.writable = capture::moves().at(0).writable;
  capture::switch_sites(code, true);
  const capture::SiteCalls before = capture::site_calls();
  EXPECT_EQ(call(function, 7), expected(7));
  const capture::SiteCalls after = capture::site_calls();
  EXPECT_EQ(after.enter, before.enter + 1);
  EXPECT_EQ(after.leave, before.leave + 1);
}

TEST_P(Motion, StaysWhereNothingLowerIsFree) {
  void* function = add("f");
  void* const old = function;
  const std::size_t used = rt_.allocator()->statistics().usedSize();
  EXPECT_FALSE(rt_.move_down(&function));
  EXPECT_EQ(function, old);
  EXPECT_EQ(rt_.allocator()->statistics().usedSize(), used);
  EXPECT_EQ(call(function, 3), expected(3));
  EXPECT_TRUE(capture::moves().empty());
}

TEST_P(Motion, IsOfWhatMayMoveAlone) {
  void* const hole = add("hole");
  void* function = add("f", false);
  ASSERT_EQ(rt_.release(hole), asmjit::kErrorOk);
  EXPECT_FALSE(rt_.move_down(&function));
  EXPECT_EQ(call(function, 3), expected(3));
  ASSERT_EQ(rt_.release(function), asmjit::kErrorOk);
  EXPECT_EQ(capture::unloads().size(), 2u);
}

// A call that goes on in other code: entered there, left here.
TEST_P(Motion, TransfersAreNoCalls) {
  CodeHolder code;
  code.init(rt_.environment());
  x86::Compiler cc(&code);
  jitquill::add_tail_pass(cc);
  jitquill::add_site_pass(cc, jitquill::SitePolicy::kAlways);
  jitquill::mark_continuation(cc.addFunc(FuncSignatureT<std::int64_t>()));
  asmjit::InvokeNode* call = nullptr;
  const x86::Gp result = cc.newInt64();
  cc.invoke(&call, asmjit::imm(reinterpret_cast<std::uint64_t>(&far_from_jitted_code)),
            FuncSignatureT<std::int64_t>());
  call->setRet(0, result);
  jitquill::mark_transfer(call);
  cc.ret(result);
  cc.endFunc();
  ASSERT_EQ(cc.finalize(), asmjit::kErrorOk);
  void* placed = nullptr;
  ASSERT_EQ(rt_.add(&placed, &code, jitquill::Announcement{.name = "f"}), asmjit::kErrorOk);
  const capture::Code seen = capture::load_of("f");
  EXPECT_TRUE(seen.unwinding);
  EXPECT_EQ(sites_of(seen), (capture::SiteCalls{0, seen.sites.size(), 0}));
  EXPECT_EQ(reinterpret_cast<std::int64_t (*)(std::int64_t)>(placed)(4), 12);
}

INSTANTIATE_TEST_SUITE_P(Mapping, Motion, testing::Bool(),
                         [](const auto& mapping) { return std::string(mapping.param ? "Dual" : "Single"); });

}  // namespace
}  // namespace shapes
