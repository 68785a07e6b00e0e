// From registers and a slice of a stack to who had called: as backtrace() says of this process, by tables
// that lie nowhere, and without any.
#include "agent/drain/call_stacks.hpp"

#include <execinfo.h>
#include <fcntl.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "agent/base/safe_copy.hpp"
#include "agent/lanes/call_stack.hpp"
#include "tests/unit/writer/temporary_folder.hpp"

namespace jitquill::drain {
namespace {

using stacks::Registers;

class OwnCode final : public stacks::CodeSource {
 public:
  OwnCode() { functions.watch_this_process(); }
  bool find_tables(std::uint64_t address, stacks::CodeTables& tables) noexcept override {
    ++asked;
    return functions.find_tables(address, 1, tables);
  }
  Functions functions;
  std::size_t asked = 0;
};

struct Captured {
  Registers registers{};
  std::vector<std::uint8_t> slice;
  std::vector<std::uint64_t> expected;  // return addresses, from the first caller on
};

// Of its caller, when it is back: what a callee keeps is as it is here. Its caller's frame begins behind its
// own only where no sanitizer aligns that: it may not.
[[gnu::noinline]] __attribute__((no_sanitize("address"))) void capture(Captured& to) {
  Registers& r = to.registers;
  asm volatile("mov %%rbx, %0; mov %%r12, %1; mov %%r13, %2"
               : "=m"(r.value[Registers::kBx]), "=m"(r.value[Registers::kR12]),
                 "=m"(r.value[Registers::kR13]));
  asm volatile("mov %%r14, %0; mov %%r15, %1; mov (%%rbp), %2"
               : "=m"(r.value[Registers::kR14]), "=m"(r.value[Registers::kR15]),
                 "=r"(r.value[Registers::kBp]));
  const auto* const frame = static_cast<const std::uint64_t*>(__builtin_frame_address(0));
  r.value[Registers::kPc] = frame[1];
  r.value[Registers::kSp] = reinterpret_cast<std::uint64_t>(frame + 2);
  void* found[128];
  const int count = backtrace(found, 128);
  // Behind its own frame, and that of a sanitizer's backtrace().
  for (void** at = std::find(found, found + count, reinterpret_cast<void*>(frame[1])); at != found + count;
       ++at)
    to.expected.push_back(reinterpret_cast<std::uint64_t>(*at));
  constexpr std::size_t kSize = 16 * 1024;
  to.slice.resize(kSize);
  (void)safe_copy({reinterpret_cast<const std::uint8_t*>(frame + 2), kSize}, to.slice.data(), 0);
}

[[gnu::noinline]] void capture_below(unsigned depth, Captured& to) {
  volatile char room[64];
  room[depth % 64] = 1;
  if (depth == 0)
    capture(to);
  else
    capture_below(depth - 1, to);
  asm volatile("" ::"r"(room) : "memory");
}

std::vector<std::uint64_t> walked(const Captured& from, bool with_plugin, bool& is_partial) {
  OwnCode code;
  stacks::StackWalker walker;
  if (with_plugin) walker.use(&jitquill_stacks_v1);
  std::vector<std::uint64_t> addresses(512);
  const auto walk = walker.walk(from.registers, false, {from.registers.sp(), from.slice}, code, addresses);
  addresses.resize(walk.count);
  is_partial = walk.is_partial;
  for (std::uint64_t& address : addresses) ++address;  // behind the call again
  return addresses;
}

TEST(StackWalker, FindsWhatBacktraceFinds) {
  for (const unsigned depth : {0u, 1u, 40u}) {
    Captured captured;
    capture_below(depth, captured);
    bool is_partial = true;
    EXPECT_EQ(walked(captured, true, is_partial), captured.expected);
    EXPECT_FALSE(is_partial);
  }
}

TEST(StackWalker, GoesByFramePointersWithoutTablesAndSaysSo) {
  Captured captured;
  capture_below(10, captured);
  bool is_partial = false;
  const auto addresses = walked(captured, false, is_partial);
  EXPECT_TRUE(is_partial);
  ASSERT_GE(addresses.size(), 11u);
  EXPECT_TRUE(std::equal(addresses.begin(), addresses.begin() + 11, captured.expected.begin()));
}

TEST(StackWalker, StopsWhereTheSliceEnds) {
  Captured captured;
  capture_below(40, captured);
  captured.slice.resize(2'000);
  bool is_partial = false;
  const auto addresses = walked(captured, true, is_partial);
  EXPECT_TRUE(is_partial);
  EXPECT_GE(addresses.size(), 5u);
  ASSERT_LT(addresses.size(), captured.expected.size());
  EXPECT_TRUE(std::equal(addresses.begin(), addresses.end(), captured.expected.begin()));
}

TEST(StackWalker, IsHarmedByNoRegistersAndNoStack) {
  OwnCode code;
  stacks::StackWalker walker;
  walker.use(&jitquill_stacks_v1);
  Captured captured;
  capture_below(3, captured);
  std::mt19937_64 random(1);
  std::vector<std::uint64_t> addresses(64);
  for (unsigned i = 0; i < 5'000; ++i) {
    Captured broken = captured;
    for (auto changes = random() % 8; changes != 0; --changes) {
      const std::size_t at = random() % 2'000 / 8 * 8;
      const std::uint64_t values[] = {random(), captured.registers.sp() + random() % 4096, 0,
                                      captured.expected[random() % captured.expected.size()]};
      std::memcpy(broken.slice.data() + at, &values[random() % 4], 8);
      broken.registers.value[random() % Registers::kCount] = values[random() % 4];
    }
    const auto walk =
        walker.walk(broken.registers, i % 2 != 0, {captured.registers.sp(), broken.slice}, code, addresses);
    EXPECT_LE(walk.count, addresses.size());
  }
}

// Stacks of one thread one after the other, as they are and with some words changed.
TEST(StackWalker, FindsTheSameWithAMemoOfTheWalkBefore) {
  OwnCode code;
  stacks::StackWalker walker;
  walker.use(&jitquill_stacks_v1);
  stacks::WalkMemo memo;
  Captured captured[3];
  for (const unsigned i : {0u, 1u, 2u}) capture_below(4 * i + 1, captured[i]);
  std::mt19937_64 random(2);
  std::vector<std::uint64_t> with(64), without(64);
  std::size_t known = 0;
  for (unsigned i = 0; i < 2'000; ++i) {
    Captured one = captured[random() % 3];
    for (auto changes = random() % 3; changes != 0; --changes) {
      const std::uint64_t word = random() % 2 != 0 ? random() : one.expected[random() % one.expected.size()];
      std::memcpy(one.slice.data() + random() % 2'000 / 8 * 8, &word, 8);
    }
    const stacks::Slice slice{one.registers.sp(), one.slice};
    const std::size_t read_before = code.asked;
    const auto by_memo = walker.walk(one.registers, false, slice, code, with, &memo);
    known += code.asked - read_before < by_memo.count ? 1 : 0;
    const auto anew = walker.walk(one.registers, false, slice, code, without);
    ASSERT_EQ(by_memo.count, anew.count) << i;
    EXPECT_EQ(by_memo.is_partial, anew.is_partial) << i;
    EXPECT_EQ(by_memo.has_end, anew.has_end) << i;
    ASSERT_TRUE(std::equal(with.begin(), with.begin() + static_cast<long>(anew.count), without.begin())) << i;
  }
  EXPECT_GT(known, 500u);  // and so it is of use
}

// Code that a JIT made: where it is, nothing can be read, and its tables are in the code lane.
class JittedStacks : public testing::Test {
 protected:
  static constexpr std::uint64_t kCode = 0x7000'0000'0000;
  static constexpr std::uint64_t kStack = 0x7100'0000'0000;

  JittedStacks() {
    EXPECT_EQ(lane.begin({}, folder), Status::kOk);
    lane.keep_tables();
    EXPECT_TRUE(reader.open(::open((folder.path / "code").c_str(), O_RDONLY | O_CLOEXEC)));
    functions.open(&reader);
  }
  void load(std::uint64_t id, std::uint64_t address, std::string_view name, const Unwinding& unwinding) {
    static const std::vector<std::uint8_t> kBytes(64);
    CodeLoad code;
    code.id = id;
    code.when_ns = 1;
    code.address = address;
    code.bytes = kBytes;
    code.name = name;
    code.unwinding = unwinding;
    Written written;
    EXPECT_EQ(lane.load(code, written), Status::kOk);
  }
  // Entered from `pc`, with these words on the stack.
  TakenStack take(std::uint64_t id, std::uint64_t pc, std::uint64_t frame_pointer,
                  const std::vector<std::uint64_t>& words) {
    std::vector<std::uint64_t> payload = {
        lanes::what_word(lanes::RecordKind::kEnter, id, 0), pc, kStack, 0, frame_pointer, 0, 0, 0, 0};
    payload.insert(payload.end(), words.begin(), words.end());
    functions.read_news();
    stacks.begin();
    return stacks.take({reinterpret_cast<const std::uint8_t*>(payload.data()), payload.size() * 8}, 2);
  }
  std::string names(const TakenStack& taken) {
    functions.define_new([&](const FunctionInfo& info) { known.emplace_back(info.name); });
    std::string all;
    for (const FunctionNumber caller : taken.stack.callers) all += known.at(caller) + " ";
    return all + (taken.stack.is_partial ? "partial" : "whole");
  }

  TemporaryFolder folder;
  lanes::CodeLane lane;
  lanes::CodeLaneReader reader;
  Functions functions;
  CallStacks stacks{functions, &jitquill_stacks_v1};
  std::vector<std::string> known;
};

TEST_F(JittedStacks, AreWalkedByTablesThatLieNowhere) {
  const FrameEvent events[] = {{1, FrameEventKind::kPush, 3, 0}, {5, FrameEventKind::kAllocate, 0, 24}};
  load(1, kCode, "leaf", Unwinding::from_events({}));
  load(2, kCode + 0x100, "middle", Unwinding::from_events(events));
  load(3, kCode + 0x200, "outer", Unwinding::from_events(events));
  // middle: 24 bytes, rbx, return address into outer; outer the same, returns to where no code is.
  const auto taken = take(1, kCode + 0x120, 0, {0, 0, 0, 0x77, kCode + 0x220, 0, 0, 0, 0x77, 0xDEAD, 0, 0});
  EXPECT_EQ(taken.function, functions.by_id(1));
  EXPECT_EQ(names(taken), "middle outer partial");
}

TEST_F(JittedStacks, AreWalkedByFramePointersThatTheirRuntimeKeeps) {
  const Unwinding kept{.kind = Unwinding::Kind::kFramePointers, .events = {}, .ready = {}};
  load(1, kCode, "leaf", {});
  load(2, kCode + 0x100, "middle", kept);
  load(3, kCode + 0x200, "outer", kept);
  const auto taken = take(1, kCode + 0x120, kStack + 16, {1, 2, kStack + 40, kCode + 0x220, 5, 0, 0, 0});
  EXPECT_EQ(names(taken), "middle outer whole") << "nobody called outer";
}

TEST_F(JittedStacks, OfFunctionsThatNobodyToldOfEndThere) {
  load(1, kCode, "leaf", {});
  EXPECT_EQ(names(take(1, 0xDEAD, 0, {1, 2})), "partial");
  EXPECT_EQ(names(take(1, 0, 0, {})), "partial");
}

TEST_F(JittedStacks, ThatAreTornAreNone) {
  const std::uint8_t bytes[20] = {};
  stacks.begin();
  EXPECT_EQ(stacks.take(bytes, 1).function, Functions::kNone);
  EXPECT_EQ(stacks.take({}, 1).function, Functions::kNone);
}

}  // namespace
}  // namespace jitquill::drain
