// What a hook puts of a call stack: registers and memory as they were, up to where memory ends; and that the
// hooks that do so keep what the plain ones keep.
#include "agent/hooks/stack_copy.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <set>
#include <thread>

#include "agent/base/safe_copy.hpp"
#include "agent/drain/lane_reader.hpp"
#include "agent/hooks/mirror.hpp"
#include "agent/lanes/wanted_stacks.hpp"
#include "tests/unit/lanes/contract.hpp"
#include "tests/unit/lanes/lane_run.hpp"
#include "tests/unit/lanes/own_process.hpp"

extern "C" {
void with_fentry_stack();
void with_mcount_stack();
void with_chain_stack();
void with_cyg_stack();
}

namespace lanes_test {
namespace {

using namespace jitquill;
using namespace jitquill::lanes;

struct Put {
  StackHead head{};
  std::vector<std::uint64_t> slice;
};

// Of all records of this thread those that are call stacks.
std::vector<Put> stacks_in(const LaneRun& run) {
  std::vector<Put> all;
  drain::LaneReader reader;
  EXPECT_TRUE(reader.begin(64 * 1024));
  for (const auto& chunk : run.only_lane().chunks) {
    std::uint32_t at = 0;
    const drain::ChunkView view{reinterpret_cast<std::uint8_t*>(chunk.header),
                                static_cast<std::uint32_t>(chunk.size)};
    (void)reader.take(view, at, cpu::ticks(), 1'000);
  }
  EXPECT_EQ(reader.broken(), 0u);
  for (const drain::Taken& taken : reader.sorted()) {
    if (taken.kind != RecordKind::kPost || taken.event != kPostCallStack) continue;
    const auto payload = reader.payload(taken);
    Put put;
    std::memcpy(&put.head, payload.data(), sizeof put.head);
    put.slice.resize((payload.size() - sizeof put.head) / 8);
    if (!put.slice.empty())
      std::memcpy(put.slice.data(), payload.data() + sizeof put.head, put.slice.size() * 8);
    all.push_back(put);
  }
  return all;
}

void put_at(const void* sp) {
  put_call_stack(RecordKind::kEnter, 7, {1, reinterpret_cast<std::uint64_t>(sp), 3, 4, 5, 6, 7, 8});
}

class CallStackOf : public testing::Test {
 protected:
  void SetUp() override {
#ifdef __SANITIZE_THREAD__
    GTEST_SKIP() << "ThreadSanitizer's memory is where the mirror would be";
#endif
  }
};

TEST_F(CallStackOf, AThreadIsItsMemory) {
  in_own_process([] {
    const LaneRun run;
    std::thread([] {
      static std::uint64_t before[32], after[32];
      const auto* const here = static_cast<const std::uint8_t*>(__builtin_frame_address(0));
      put_at(here);  // the first: where the stack ends is not known yet
      ASSERT_TRUE(safe_copy({here, sizeof before}, reinterpret_cast<std::uint8_t*>(before), 0));
      put_at(here);
      ASSERT_TRUE(safe_copy({here, sizeof after}, reinterpret_cast<std::uint8_t*>(after), 0));
      EXPECT_TRUE(std::ranges::equal(before, after)) << "nothing of it has changed";
    }).join();
    const auto stacks = stacks_in(run);
    ASSERT_EQ(stacks.size(), 2u);
    for (const Put& put : stacks) {
      EXPECT_EQ(put.head.what, what_word(RecordKind::kEnter, 7, 0));
      EXPECT_EQ(put.head.registers.pc, 1u);
      EXPECT_EQ(put.head.registers.bx, 3u);
      EXPECT_EQ(put.head.registers.r15, 8u);
      EXPECT_GE(put.slice.size(), 32u);
    }
    EXPECT_GE(stacks[0].slice.size(), stacks[1].slice.size())
        << "it may go on into what lies behind the stack";
  });
}

TEST_F(CallStackOf, ALargeOneIsCut) {
  in_own_process([] {
    const LaneRun run;
    std::vector<std::uint64_t> memory(4'096);
    for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = i * 0x0102030405060708;
    put_at(memory.data());
    const auto stacks = stacks_in(run);
    ASSERT_EQ(stacks.size(), 1u);
    ASSERT_EQ(stacks[0].slice.size(), kMostSlice / 8);
    EXPECT_TRUE(std::equal(stacks[0].slice.begin(), stacks[0].slice.end(), memory.begin()));
  });
}

TEST_F(CallStackOf, AFiberEndsWhereItsMemoryEnds) {
  in_own_process([] {
    const LaneRun run;
    constexpr std::size_t kPage = 4096;
    auto* const memory = static_cast<std::uint8_t*>(
        mmap(nullptr, 4 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(memory + 2 * kPage, kPage, PROT_NONE);
    for (const std::size_t left : {std::size_t{8}, std::size_t{64}, kPage - 8, kPage, kPage + 8, 2 * kPage})
      put_at(memory + 2 * kPage - left);
    put_at(memory + 4);  // no stack is so
    const auto stacks = stacks_in(run);
    ASSERT_EQ(stacks.size(), 7u);
    const std::size_t sizes[] = {8, 64, kPage - 8, kPage, kPage + 8, kMostSlice, 0};
    for (std::size_t i = 0; i < 7; ++i) EXPECT_EQ(stacks[i].slice.size() * 8, sizes[i]) << i;
  });
}

TEST_F(CallStackOf, ATakenReturnAddressIsPutBack) {
  in_own_process([] {
    mirror::start({});
    const LaneRun run;
    std::uint64_t stack[8] = {};
    constexpr std::uint64_t kEntry = (0x1234 & JITQUILL_RETURN_ENTRY_MASK) * JITQUILL_RETURN_ENTRY_SIZE;
    const auto hook = reinterpret_cast<std::uint64_t>(jitquill_return_hook) + kEntry;
    const auto slot = reinterpret_cast<std::uint64_t>(&stack[3]);
    ASSERT_EQ(jitquill_mirror_reach(slot), std::uint32_t{JITQUILL_MIRROR_TRY_AGAIN});
    *reinterpret_cast<std::uint64_t*>(slot - mirror::kDistance) = 0x1234;
    stack[3] = hook;
    put_at(stack);
    const auto stacks = stacks_in(run);
    ASSERT_EQ(stacks.size(), 1u);
    EXPECT_EQ(stacks[0].slice[3], 0x1234u);
    EXPECT_EQ(stack[3], hook) << "the stack itself stays";
  });
}

using Spans = std::vector<AddressSpan>;
const Spans kAll{{0, ~std::uint64_t{0}}};

void want(const Spans& wanted, const Spans& seen = kAll) {
  GrowingArray<AddressSpan> to_want, to_see;
  for (const AddressSpan& span : wanted) ASSERT_TRUE(to_want.push(span));
  for (const AddressSpan& span : seen) ASSERT_TRUE(to_see.push(span));
  tell_wanted_stacks(to_see, to_want);
}

using Function = void (*)();
constexpr Function kFunctions[] = {with_fentry_stack, with_mcount_stack, with_chain_stack};

TEST_F(CallStackOf, HooksThatTakeItKeepRegisters) {
  in_own_process([] {
    mirror::start({});
    const auto expect_kept = [] {
      for (const Function function : kFunctions)
        lanes_test::expect_kept(reinterpret_cast<const std::uint8_t*>(function));
    };
    expect_kept();  // no pool, nothing is wanted
    want(kAll);
    expect_kept();
    const LaneRun run;
    expect_kept();
    std::thread([&] { expect_kept(); }).join();
    want({});
    expect_kept();
  });
}

// Each calls its hook in its first bytes; behind that nothing of it is on the stack.
TEST_F(CallStackOf, HooksTakeItFromTheCallerOn) {
  in_own_process([] {
    mirror::start({});
    const LaneRun run;
    for (const Function function : kFunctions) function();
    EXPECT_EQ(stacks_in(run).size(), 0u) << "nothing is wanted";
    want(kAll);
    for (const Function function : kFunctions) function();
    with_cyg_stack();
    const auto stacks = stacks_in(run);
    ASSERT_EQ(stacks.size(), 4u);
    const auto is_in = [](std::uint64_t address, Function function) {
      return address - reinterpret_cast<std::uint64_t>(function) < 64;
    };
    EXPECT_FALSE(is_in(stacks[0].head.registers.pc, with_fentry_stack)) << "the caller";
    EXPECT_TRUE(is_in(stacks[0].head.what & kLow48, with_fentry_stack));
    EXPECT_TRUE(is_in(stacks[1].head.registers.pc, with_mcount_stack)) << "behind a prologue it is itself";
    EXPECT_FALSE(is_in(stacks[2].head.registers.pc, with_chain_stack));
    EXPECT_EQ(stacks[2].head.registers.sp, stacks[0].head.registers.sp) << "past the static chain";
    EXPECT_TRUE(is_in(stacks[3].head.registers.pc, with_cyg_stack));
    EXPECT_EQ(kind_of(stacks[3].head.what), RecordKind::kEnterWithin);
  });
}

bool is_in(const Spans& spans, std::uint64_t address) {
  return std::ranges::any_of(
      spans, [&](const AddressSpan& span) { return address >= span.start && address < span.end; });
}

TEST(WantedStacks, AreThoseThatAreNamedAndThoseOfUnknownCode) {
  std::mt19937_64 random(1);
  for (unsigned round = 0; round < 200; ++round) {
    Spans seen, wanted;
    for (auto modules = random() % 4; modules != 0; --modules) {
      const std::uint64_t start = random() % 1'000;
      seen.push_back({start, start + 100 + random() % 200});
      for (auto count = random() % 8; count != 0; --count) {
        const std::uint64_t at = start + random() % 100;
        wanted.push_back({at, std::min(at + 1 + random() % 50, seen.back().end)});
      }
    }
    want(wanted, seen);
    for (std::uint64_t address = 0; address < 1'400; ++address)
      ASSERT_EQ(is_stack_wanted(address), is_in(wanted, address) || !is_in(seen, address)) << address;
  }
}

// A program that opens and closes libraries all the time tells of others each time.
TEST(WantedStacks, StayTwoTablesHoweverOftenTheyChange) {
  std::set<const WantedTable*> tables;
  for (std::uint64_t round = 0; round < 1'000; ++round) {
    want({{round, round + 1}});
    EXPECT_TRUE(is_stack_wanted(round));
    EXPECT_FALSE(is_stack_wanted(round + 1));
    tables.insert(g_wanted_stacks.load());
  }
  EXPECT_EQ(tables.size(), 2u);
  for (std::uint64_t count = 1; count <= 4'096; count *= 2) {
    Spans wanted;
    for (std::uint64_t i = 0; i < count; ++i) wanted.push_back({4 * i, 4 * i + 1});
    want(wanted);
    tables.insert(g_wanted_stacks.load());
  }
  EXPECT_LE(tables.size(), 8u) << "of twice the size each time";
}

// What a hook finds in a table that is written while it searches there: it was held up meanwhile.
class HeldUp {
 public:
  static constexpr std::uint64_t kMost = 1'000, kMiddle = kMost / 2;

  HeldUp() {
    // The one that has it is the first in one, in the middle in the other.
    for (std::uint64_t i = 0; i < kMost; ++i) {
      contents_[0].push_back(i == 0 ? WantedPiece{0, 1} : WantedPiece{kMiddle + i, 0});
      contents_[1].push_back({i, i == kMiddle ? 1u : 0u});
    }
    table_ = new (memory_.data()) WantedTable(kMost);
    table_->write(contents_[0]);
    g_this = this;
    struct sigaction action {};
    action.sa_handler = [](int) { g_this->write(); };
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, &before_);
    tick(100);
  }
  ~HeldUp() {
    tick(0);
    sigaction(SIGALRM, &before_, nullptr);
  }
  unsigned written() const { return written_; }
  // False: it could not be told.
  bool search(bool& is_wanted) const { return table_->search(kMiddle, is_wanted); }

 private:
  static void tick(int us) {
    const itimerval each{{0, us}, {0, us}};
    setitimer(ITIMER_REAL, &each, nullptr);
  }
  void write() { table_->write(contents_[++written_ % 2]); }

  static inline HeldUp* g_this;
  std::vector<WantedPiece> contents_[2];
  std::vector<std::uint64_t> memory_ = std::vector<std::uint64_t>(sizeof(WantedTable) / 8 + 2 * kMost);
  WantedTable* table_;
  struct sigaction before_;
  std::atomic<unsigned> written_{0};
};

TEST(WantedStacks, AreFoundRightlyOrNotWhereTheyAreWritten) {
  const HeldUp held;
  std::uint64_t found = 0, not_found = 0, wrong = 0;
  while (held.written() < 500) {
    bool is_wanted = false;
    const bool is_told = held.search(is_wanted);
    ++(is_told ? found : not_found);
    wrong += is_told && !is_wanted ? 1 : 0;
  }
  EXPECT_EQ(wrong, 0u) << "of " << found;
  EXPECT_GT(not_found, 0u) << "it was never held up";
}

}  // namespace
}  // namespace lanes_test
