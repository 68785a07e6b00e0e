// Sites that the adapter emits: their bytes, where they lie, who gets them; and what tail calls become.
#include <asmjit/x86.h>

#include <cstring>
#include <string>

#include "tests/unit/adapter/shape_check.hpp"

namespace shapes {
namespace {

constexpr std::size_t kSledSize = 11;

class Sites : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override { capture::clear(); }
  void TearDown() override { capture::set_sites_wanted(false); }

  asmjit::JitAllocator::CreateParams* params() {
    params_.options =
        GetParam() ? asmjit::JitAllocatorOptions::kUseDualMapping : asmjit::JitAllocatorOptions::kNone;
    return &params_;
  }
  asmjit::JitAllocator::CreateParams params_{};
  jitquill::JitRuntime rt_{params()};
};

// What a site's call leads to, through its thunk; null if the bytes are not a sled's.
const void* hook_of(const capture::Code& code, const jitquill_site& site) {
  const std::uint8_t* const sled = code.addr + site.offset;
  const std::uint8_t expected[] = {0xEB, 0x09, 0, 0, 0, 0, 0xE8};
  if (std::memcmp(sled, expected, sizeof expected) != 0) return nullptr;
  if (reinterpret_cast<std::uintptr_t>(sled) % 8 != 0) return nullptr;
  std::int32_t relative = 0;
  std::memcpy(&relative, sled + 7, sizeof relative);
  const std::uint8_t* const thunk = sled + kSledSize + relative;
  const std::uint8_t jump[] = {0xFF, 0x25, 0, 0, 0, 0};
  if (std::memcmp(thunk, jump, sizeof jump) != 0) return nullptr;
  const void* hook = nullptr;
  std::memcpy(&hook, thunk + sizeof jump, sizeof hook);
  return hook;
}

// The exits lie before ret or a jump, the entry at the start.
void expect_in_place(const capture::Code& code) {
  for (const jitquill_site& site : code.sites) {
    EXPECT_EQ(hook_of(code, site), jitquill_site_hook(static_cast<jitquill_site_kind>(site.kind)));
    const std::uint8_t next = code.addr[site.offset + kSledSize];
    const bool is_jump = next == 0xE9 || next == 0xFF;
    const bool is_in_place = site.kind == JITQUILL_SITE_ENTER   ? site.offset == 0
                             : site.kind == JITQUILL_SITE_LEAVE ? next == 0xC3
                                                                : is_jump;
    EXPECT_TRUE(is_in_place) << "kind " << +site.kind << " at " << site.offset << " before " << +next;
    EXPECT_EQ(std::memcmp(code.writable + site.offset, code.addr + site.offset, kSledSize), 0);
  }
}

template <class E>
capture::Code add_to(jitquill::JitRuntime& rt, E& emitter, CodeHolder& code) {
  EXPECT_EQ(emitter.finalize(), asmjit::kErrorOk);
  void* placed = nullptr;
  capture::clear();
  EXPECT_EQ(rt.add(&placed, &code, jitquill::Announcement{.name = "f"}), asmjit::kErrorOk);
  return capture::load_of("f");
}

template <class E>
void check_bytes(jitquill::JitRuntime& rt, std::uint64_t leaves) {
  CodeHolder code;
  ASSERT_EQ(code.init(rt.environment()), asmjit::kErrorOk);
  Emitter<E> e(&code);
  set_sites(e, SiteState::kOff);
  emit(e, {.pushes = 2, .locals = 40, .epilogs = 2});
  const capture::Code seen = add_to(rt, e, code);
  EXPECT_EQ(sites_of(seen), (capture::SiteCalls{1, leaves, 0}));
  expect_in_place(seen);
}

// A Compiler's function has one epilog.
TEST_P(Sites, LieAtEntryAndExits) {
  check_bytes<x86::Assembler>(rt_, 2);
  check_bytes<x86::Builder>(rt_, 2);
  check_bytes<x86::Compiler>(rt_, 1);
}

std::uint64_t compiled_sites(jitquill::JitRuntime& rt, jitquill::SitePolicy policy) {
  CodeHolder code;
  EXPECT_EQ(code.init(rt.environment()), asmjit::kErrorOk);
  x86::Compiler cc(&code);
  EXPECT_EQ(jitquill::add_site_pass(cc, policy), asmjit::kErrorOk);
  cc.addFunc(FuncSignatureT<void>());
  cc.ret();
  cc.endFunc();
  return add_to(rt, cc, code).sites.size();
}

TEST_P(Sites, AreMadeAsThePolicySays) {
  using jitquill::SitePolicy;
  for (const bool wanted : {false, true}) {
    capture::set_sites_wanted(wanted);
    EXPECT_EQ(compiled_sites(rt_, SitePolicy::kNever), 0u);
    EXPECT_EQ(compiled_sites(rt_, SitePolicy::kWhenWanted), wanted ? 2u : 0u);
    EXPECT_EQ(compiled_sites(rt_, SitePolicy::kAlways), 2u);
  }
}

TEST_P(Sites, AreWantedByEachFunctionOfAnEmitter) {
  CodeHolder code;
  ASSERT_EQ(code.init(rt_.environment()), asmjit::kErrorOk);
  jitquill::Announced<x86::Assembler> a(&code);
  for (const bool wanted : {true, false, true}) {
    capture::set_sites_wanted(wanted);
    const FuncFrame frame = frame_of({.pushes = 1});
    a.emitProlog(frame);
    capture::set_sites_wanted(!wanted);  // asked at the prolog only
    a.emitEpilog(frame);
  }
  void* function = nullptr;
  ASSERT_EQ(rt_.add(&function, &code), asmjit::kErrorOk);
  auto loads = capture::loads();
  ASSERT_EQ(loads.size(), 4u);
  EXPECT_EQ(loads[0].name, "jitquill_site_thunks");
  EXPECT_TRUE(loads[0].unwinding && loads[0].frame.empty());
  loads.erase(loads.begin());
  EXPECT_EQ(loads[0].sites.size(), 2u);
  EXPECT_EQ(loads[1].sites.size(), 0u);
  EXPECT_EQ(loads[2].sites.size(), 2u);
  for (const capture::Code& each : loads)
    for (const jitquill_site& site : each.sites) EXPECT_NE(hook_of(each, site), nullptr);
}

// After a reset the thunks are made anew.
TEST_P(Sites, SurviveAReset) {
  EXPECT_EQ(compiled_sites(rt_, jitquill::SitePolicy::kAlways), 2u);
  rt_.reset();
  check_bytes<x86::Compiler>(rt_, 1);
}

INSTANTIATE_TEST_SUITE_P(Mapping, Sites, testing::Bool(),
                         [](const auto& mapping) { return std::string(mapping.param ? "Dual" : "Single"); });

std::uint64_t times_ten(std::uint64_t value) {
  return value * 10;
}
std::uint64_t sum_of_8(std::uint64_t a, std::uint64_t b, std::uint64_t c, std::uint64_t d, std::uint64_t e,
                       std::uint64_t f, std::uint64_t g, std::uint64_t h) {
  return a + b + c + d + e + f + g + h;
}

class MarkedCalls : public testing::Test {
 protected:
  void SetUp() override {
    capture::clear();
    ASSERT_EQ(code_.init(rt_.environment()), asmjit::kErrorOk);
    ASSERT_EQ(code_.attach(&cc_), asmjit::kErrorOk);
    ASSERT_EQ(jitquill::add_tail_pass(cc_), asmjit::kErrorOk);
    set_sites(cc_, SiteState::kOn);
    func_ = cc_.addFunc(FuncSignatureT<U, U>());
    argument_ = cc_.newUInt64();
    func_->setArg(0, argument_);
  }
  // The marked call of `target` with the argument.
  template <class Target>
  void call(const Target& target) {
    asmjit::InvokeNode* invoke = nullptr;
    cc_.invoke(&invoke, target, FuncSignatureT<U, U>());
    invoke->setArg(0, argument_);
    invoke->setRet(0, argument_);
    jitquill::mark_tail_call(invoke);
  }
  void expect(std::uint64_t tails, std::uint64_t argument, std::uint64_t result) {
    cc_.endFunc();
    const capture::Code seen = add_to(rt_, cc_, code_);
    ASSERT_TRUE(seen.unwinding) << jitquill::refusal_text(rt_.last_refusal());
    EXPECT_EQ(sites_of(seen).tail, tails);
    EXPECT_EQ(stepper::run(seen, {argument}).result, result);
    capture::switch_sites(seen, true);
    EXPECT_EQ(stepper::run(seen, {argument}).result, result);
    EXPECT_EQ(stepper::first_mismatch(seen, seen.frame, stepper::run(seen, {argument})), "");
  }

  jitquill::JitRuntime rt_;
  CodeHolder code_;
  x86::Compiler cc_;
  asmjit::FuncNode* func_ = nullptr;
  x86::Gp argument_;
};

std::uint64_t (*table[])(std::uint64_t) = {times_ten};

TEST_F(MarkedCalls, ThroughATableBecomeJumps) {
  const x86::Gp slot = cc_.newUIntPtr();
  cc_.mov(slot, asmjit::imm(reinterpret_cast<std::uint64_t>(table)));
  call(x86::ptr(slot));
  cc_.ret(argument_);
  expect(1, 4, 40);
}

// The register that holds the target is one that the epilog gives back.
TEST_F(MarkedCalls, ThroughAPreservedRegisterBecomeJumps) {
  const x86::Gp target = cc_.newUIntPtr();
  cc_.mov(target, asmjit::imm(reinterpret_cast<std::uint64_t>(&times_ten)));
  scramble(cc_, {.pushes = 6});
  describe(func_->frame(), {.pushes = 6});
  call(target);
  cc_.ret(argument_);
  expect(1, 4, 40);
}

TEST_F(MarkedCalls, WithWorkBehindThemStayCalls) {
  call(asmjit::imm(reinterpret_cast<std::uint64_t>(&times_ten)));
  cc_.inc(argument_);
  cc_.ret(argument_);
  expect(0, 4, 41);
}

TEST_F(MarkedCalls, WhoseResultIsDroppedForAnotherStayCalls) {
  const x86::Gp other = cc_.newUInt64();
  cc_.mov(other, 7);
  call(asmjit::imm(reinterpret_cast<std::uint64_t>(&times_ten)));
  cc_.ret(other);
  expect(0, 4, 7);
}

TEST_F(MarkedCalls, WithStackArgumentsStayCalls) {
  asmjit::InvokeNode* invoke = nullptr;
  cc_.invoke(&invoke, asmjit::imm(reinterpret_cast<std::uint64_t>(&sum_of_8)),
             FuncSignatureT<U, U, U, U, U, U, U, U, U>());
  for (std::uint32_t i = 0; i < 8; ++i) invoke->setArg(i, argument_);
  invoke->setRet(0, argument_);
  jitquill::mark_tail_call(invoke);
  cc_.ret(argument_);
  expect(0, 5, 40);
}

// Each on its own way out, and a plain return.
TEST_F(MarkedCalls, OnSeveralWaysBecomeJumps) {
  const asmjit::Label second = cc_.newLabel(), third = cc_.newLabel();
  cc_.cmp(argument_, 5);
  cc_.ja(second);
  call(asmjit::imm(reinterpret_cast<std::uint64_t>(&times_ten)));
  cc_.ret(argument_);
  cc_.bind(second);
  cc_.cmp(argument_, 9);
  cc_.ja(third);
  call(asmjit::imm(reinterpret_cast<std::uint64_t>(&times_ten)));
  cc_.ret(argument_);
  cc_.bind(third);
  cc_.ret(argument_);
  expect(2, 7, 70);
}

}  // namespace
}  // namespace shapes
