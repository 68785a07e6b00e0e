// What a runtime announces, when, and in which memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <thread>

#include "tests/unit/adapter/capture.hpp"
#include "tests/unit/adapter/shapes.hpp"

using namespace shapes;

namespace {

using Function = std::uint64_t (*)(std::uint64_t);

class Announce : public testing::Test {
 protected:
  void SetUp() override {
    capture::clear();
    ASSERT_EQ(code_.init(rt_.environment()), asmjit::kErrorOk);
  }
  void TearDown() override {
    capture::set_wanted(true);
    capture::on_unload(nullptr);
  }

  jitquill::JitRuntime rt_;
  CodeHolder code_;
  Function function_ = nullptr;
};

void add_function(x86::Compiler& cc, std::uint64_t plus, const char* label = nullptr) {
  cc.align(asmjit::AlignMode::kCode, 16);
  if (label != nullptr) cc.bind(cc.newNamedLabel(label));
  asmjit::FuncNode* func = cc.addFunc(FuncSignatureT<std::uint64_t, std::uint64_t>());
  func->frame().setPreservedFP();
  const x86::Gp argument = cc.newUInt64();
  func->setArg(0, argument);
  cc.add(argument, plus);
  cc.ret(argument);
  cc.endFunc();
}

bool is_mapped_code(const void* addr) {
  return *static_cast<const volatile std::uint8_t*>(addr) == 0xC3;
}
bool unload_saw_code = false;

}  // namespace

TEST_F(Announce, NameSizeAndBytesAreThoseOfTheCode) {
  x86::Compiler cc(&code_);
  add_function(cc, 5);
  ASSERT_EQ(cc.finalize(), asmjit::kErrorOk);
  ASSERT_EQ(rt_.add(&function_, &code_, jitquill::Announcement{.name = "plus5", .file = "/p.nib"}),
            asmjit::kErrorOk);
  EXPECT_EQ(function_(1), 6u);
  const capture::Code seen = capture::load_of("plus5");
  EXPECT_EQ(seen.file, "/p.nib");
  EXPECT_EQ(seen.addr, reinterpret_cast<const std::uint8_t*>(function_));
  EXPECT_EQ(seen.size, code_.codeSize());
  EXPECT_EQ(std::memcmp(seen.bytes.data(), code_.textSection()->data(), seen.size), 0);
  EXPECT_TRUE(seen.unwinding);
}

TEST_F(Announce, NamesComeFromTheCallThenFromLabelsThenFromANumber) {
  x86::Assembler a(&code_);
  a.bind(a.newNamedLabel("labelled"));
  a.ret();
  ASSERT_EQ(rt_.add(&function_, &code_), asmjit::kErrorOk);
  CodeHolder other;
  other.init(rt_.environment());
  x86::Assembler b(&other);
  b.ret();
  ASSERT_EQ(rt_.add(&function_, &other), asmjit::kErrorOk);
  EXPECT_EQ(capture::loads().at(0).name, "labelled");
  EXPECT_EQ(capture::loads().at(1).name.rfind("asmjit_", 0), 0u);
}

TEST_F(Announce, RegisteringIsAskedForByFlagAlsoWhenNoOutputWantsCode) {
  const auto add_named = [&](const char* name) {
    CodeHolder code;
    code.init(rt_.environment());
    x86::Compiler cc(&code);
    add_function(cc, 1);
    cc.finalize();
    EXPECT_EQ(rt_.add(&function_, &code, jitquill::Announcement{.name = name}), asmjit::kErrorOk);
  };
  add_named("plain");
  rt_.set_register_unwinding(true);
  capture::set_wanted(false);
  add_named("registered");
  ASSERT_EQ(capture::loads().size(), 2u);
  EXPECT_EQ(capture::load_of("plain").flags, 0u);
  EXPECT_EQ(capture::load_of("registered").flags, JITQUILL_CODE_REGISTER);
  EXPECT_TRUE(capture::load_of("registered").unwinding);
  rt_.set_register_unwinding(false);
  add_named("unwanted");
  EXPECT_EQ(capture::loads().size(), 2u);
}

TEST_F(Announce, ARuntimeSeesWhatTheAgentWasTold) {
  struct Listening : jitquill::JitRuntime {
    std::vector<std::string> names;
    const void* last = nullptr;
    void on_announced(const jitquill_code& code) noexcept override {
      names.emplace_back(code.name);
      last = code.addr;
    }
  } runtime;
  x86::Compiler cc(&code_);
  add_function(cc, 1, "one");
  add_function(cc, 2, "two");
  cc.finalize();
  ASSERT_EQ(runtime.add(&function_, &code_), asmjit::kErrorOk);
  EXPECT_EQ(runtime.names, (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(runtime.last, capture::load_of("two").addr);
}

TEST_F(Announce, ABaseReferenceAnnouncesToo) {
  asmjit::JitRuntime& base = rt_;
  x86::Assembler a(&code_);
  a.ret();
  ASSERT_EQ(base.add(&function_, &code_), asmjit::kErrorOk);
  ASSERT_EQ(base.release(function_), asmjit::kErrorOk);
  EXPECT_EQ(capture::loads().size(), 1u);
  EXPECT_EQ(capture::unloads().size(), 1u);
}

TEST_F(Announce, FunctionsOfOneHolderAreAnnouncedOneByOne) {
  x86::Compiler cc(&code_);
  add_function(cc, 1);
  add_function(cc, 2, "second");
  add_function(cc, 3);
  ASSERT_EQ(cc.finalize(), asmjit::kErrorOk);
  const jitquill::Announcement each[] = {{.name = "first"}, {}, {.name = "third"}};
  ASSERT_EQ(rt_.add(&function_, &code_, each, 3), asmjit::kErrorOk);
  const auto seen = capture::loads();
  ASSERT_EQ(seen.size(), 3u);
  EXPECT_EQ(seen[0].name, "first");
  EXPECT_EQ(seen[1].name, "second");
  EXPECT_EQ(seen[2].name, "third");
  for (std::uint64_t i = 0; i < 3; ++i) {
    EXPECT_EQ(reinterpret_cast<Function>(reinterpret_cast<std::uintptr_t>(seen[i].addr))(10), 11 + i);
    EXPECT_TRUE(seen[i].unwinding);
    if (i != 0) {
      EXPECT_EQ(seen[i - 1].addr + seen[i - 1].size, seen[i].addr);
    }
  }
  EXPECT_EQ(seen[0].room, 0u);
  EXPECT_EQ(seen[1].room, 0u);
  EXPECT_GE(seen[2].room, std::size_t{JITQUILL_CAPTURE_ROOM});
  rt_.release(function_);
  EXPECT_EQ(capture::unloads().size(), 3u);
}

TEST_F(Announce, AssemblerFunctionsAreSplitAtPrologsAndMarks) {
  jitquill::Announced<x86::Assembler> a(&code_);
  emit(a, {.pushes = 2});
  a.align(asmjit::AlignMode::kCode, 32);
  emit(a, {.pushes = 4, .frame_pointer = true});
  a.begin_function();
  a.ret();
  ASSERT_EQ(rt_.add(&function_, &code_), asmjit::kErrorOk);
  const auto seen = capture::loads();
  ASSERT_EQ(seen.size(), 3u);
  for (const capture::Code& code : seen) EXPECT_TRUE(code.unwinding);
  EXPECT_EQ(seen[2].size, 1u);
  EXPECT_TRUE(seen[2].frame.empty());
}

TEST_F(Announce, RoomBelongsToOneFunctionAlone) {
  struct Range {
    std::uintptr_t begin, end;
  };
  std::vector<Range> taken;
  for (std::uint64_t i = 0; i < 300; ++i) {
    CodeHolder code;
    code.init(rt_.environment());
    x86::Compiler cc(&code);
    add_function(cc, i);
    if (i % 3 == 0) {
      const x86::Mem far = cc.newUInt64Const(asmjit::ConstPoolScope::kGlobal, i);
      static_cast<void>(far);
    }
    ASSERT_EQ(cc.finalize(), asmjit::kErrorOk);
    ASSERT_EQ(rt_.add(&function_, &code), asmjit::kErrorOk);
    const capture::Code seen = capture::loads().back();
    const auto begin = reinterpret_cast<std::uintptr_t>(seen.addr);
    EXPECT_GE(seen.room, (8 - seen.size % 8) % 8 + JITQUILL_CAPTURE_ROOM);
    taken.push_back({begin, begin + seen.size + seen.room});
    if (i % 5 == 4) rt_.release(function_);
    if (i % 5 == 4) taken.pop_back();
  }
  std::sort(taken.begin(), taken.end(), [](const Range& a, const Range& b) { return a.begin < b.begin; });
  for (std::size_t i = 1; i < taken.size(); ++i) EXPECT_LE(taken[i - 1].end, taken[i].begin);
}

TEST_F(Announce, FarCallsAndDataSectionsWork) {
  x86::Compiler cc(&code_);
  asmjit::FuncNode* func = cc.addFunc(FuncSignatureT<std::uint64_t, std::uint64_t>());
  const x86::Gp argument = cc.newUInt64();
  func->setArg(0, argument);
  asmjit::InvokeNode* invoke = nullptr;
  const Function doubled = [](std::uint64_t value) { return value * 2; };
  cc.invoke(&invoke, reinterpret_cast<std::uint64_t>(doubled),
            FuncSignatureT<std::uint64_t, std::uint64_t>());
  invoke->setArg(0, argument);
  invoke->setRet(0, argument);
  cc.add(argument, cc.newUInt64Const(asmjit::ConstPoolScope::kLocal, 0x1234567890));
  cc.ret(argument);
  cc.endFunc();
  asmjit::Section* data = nullptr;
  ASSERT_EQ(code_.newSection(&data, ".data", SIZE_MAX, asmjit::SectionFlags::kNone, 8), asmjit::kErrorOk);
  cc.section(data);
  cc.embedUInt64(7, 100);
  ASSERT_EQ(cc.finalize(), asmjit::kErrorOk);
  ASSERT_EQ(rt_.add(&function_, &code_, jitquill::Announcement{.name = "far"}), asmjit::kErrorOk);
  EXPECT_EQ(function_(4), 8 + 0x1234567890u);
  const capture::Code seen = capture::load_of("far");
  EXPECT_EQ(seen.size, code_.textSection()->bufferSize());
  EXPECT_GE(seen.size + seen.room, code_.codeSize());
}

TEST_F(Announce, DualMappingAnnouncesTheExecutableAddress) {
  asmjit::JitAllocator::CreateParams params{};
  params.options = asmjit::JitAllocatorOptions::kUseDualMapping;
  jitquill::JitRuntime rt(&params);
  x86::Compiler cc(&code_);
  add_function(cc, 9);
  ASSERT_EQ(cc.finalize(), asmjit::kErrorOk);
  ASSERT_EQ(rt.add(&function_, &code_, jitquill::Announcement{.name = "dual"}), asmjit::kErrorOk);
  EXPECT_EQ(function_(1), 10u);
  EXPECT_EQ(capture::load_of("dual").addr, reinterpret_cast<const std::uint8_t*>(function_));
}

TEST_F(Announce, UnloadComesBeforeTheMemoryIsReleased) {
  x86::Assembler a(&code_);
  a.ret();
  asmjit::JitAllocator::CreateParams params{};
  params.options = asmjit::JitAllocatorOptions::kFillUnusedMemory;
  jitquill::JitRuntime rt(&params);
  ASSERT_EQ(rt.add(&function_, &code_), asmjit::kErrorOk);
  unload_saw_code = false;
  capture::on_unload([](const void* addr) { unload_saw_code = is_mapped_code(addr); });
  rt.release(function_);
  EXPECT_TRUE(unload_saw_code);
}

TEST_F(Announce, ResetAndDestructorWithdrawEverything) {
  std::vector<const void*> added;
  {
    jitquill::JitRuntime rt;
    for (int round = 0; round < 2; ++round) {
      for (int i = 0; i < 200; ++i) {
        CodeHolder code;
        code.init(rt.environment());
        x86::Assembler a(&code);
        a.ret();
        ASSERT_EQ(rt.add(&function_, &code), asmjit::kErrorOk);
        added.push_back(reinterpret_cast<const void*>(function_));
      }
      if (round == 0) rt.reset();
    }
    EXPECT_EQ(capture::unloads().size(), 200u);
  }
  auto unloaded = capture::unloads();
  std::sort(unloaded.begin(), unloaded.end());
  std::sort(added.begin(), added.end());
  EXPECT_EQ(unloaded, added);
}

TEST_F(Announce, FailuresAreAsmjitsOwn) {
  EXPECT_EQ(rt_.add(&function_, &code_), asmjit::Error(asmjit::kErrorNoCodeGenerated));
  EXPECT_EQ(function_, nullptr);
  x86::Assembler a(&code_);
  a.call(asmjit::imm(reinterpret_cast<std::uint64_t>(&capture::clear)));
  ASSERT_EQ(rt_.add(&function_, &code_), asmjit::kErrorOk);
  const std::size_t used = rt_.allocator()->statistics().usedSize();
  // A holder with a far call cannot be placed twice.
  EXPECT_EQ(rt_.add(&function_, &code_), asmjit::Error(asmjit::kErrorInvalidRelocEntry));
  EXPECT_EQ(function_, nullptr);
  EXPECT_EQ(rt_.allocator()->statistics().usedSize(), used);
  EXPECT_EQ(capture::loads().size(), 1u);
}

TEST_F(Announce, NothingIsPreparedWhileNoOutputWantsCode) {
  capture::set_wanted(false);
  x86::Assembler a(&code_);
  a.ret();
  ASSERT_EQ(rt_.add(&function_, &code_), asmjit::kErrorOk);
  rt_.release(function_);
  EXPECT_TRUE(capture::loads().empty());
  EXPECT_TRUE(capture::unloads().empty());
}

TEST_F(Announce, ThreadsAddAndReleaseAtOnce) {
  constexpr int kThreads = 4, kRounds = 300;
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([this, &wrong, t] {
      for (int i = 0; i < kRounds; ++i) {
        CodeHolder code;
        code.init(rt_.environment());
        x86::Compiler cc(&code);
        add_function(cc, static_cast<std::uint64_t>(t * 1000 + i));
        cc.finalize();
        Function function = nullptr;
        const std::string name = std::to_string(t) + "_" + std::to_string(i);
        if (rt_.add(&function, &code, jitquill::Announcement{.name = name.c_str()}) != asmjit::kErrorOk ||
            function(1) != static_cast<std::uint64_t>(t * 1000 + i + 1))
          ++wrong;
        rt_.release(function);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  const auto seen = capture::loads();
  ASSERT_EQ(seen.size(), std::size_t{kThreads * kRounds});
  EXPECT_EQ(capture::unloads().size(), seen.size());
  for (const capture::Code& code : seen) EXPECT_TRUE(code.unwinding) << code.name;
}
