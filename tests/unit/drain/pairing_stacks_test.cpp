// Call stacks stand behind the entries that they were taken at, and behind no others.
#include <gtest/gtest.h>

#include <string>

#include "agent/lanes/call_stack.hpp"
#include "tests/support/lane_pool.hpp"
#include "tests/unit/drain/paired.hpp"
#include "tests/unit/drain/pool_memory.hpp"

namespace jitquill::drain {
namespace {

constexpr std::uint64_t kTop = 0x7ffd'0000'0000;

class PairingOfStacks : public testing::Test, public tests::Paired {
 protected:
  PairingOfStacks() { around.call_stacks = &call_stacks; }

  // As the hooks put them.
  void stack(std::uint64_t ticks, std::uint64_t slot, std::uint64_t id) {
    const lanes::StackHead head{lanes::what_word(Kind::kEnter, id, 0), {0, slot + 8, 0, 0, 0, 0, 0, 0}};
    pool.post(row, lanes::kPostCallStack, {reinterpret_cast<const std::uint8_t*>(&head), sizeof head}, ticks);
  }
  void record(Kind kind, std::uint64_t ticks, std::uint64_t slot, std::uint64_t id = 0) {
    pool.put(row, kind, id, slot, ticks);
  }
  // "+f" entered, "-f" left, "=f" its stack, with its depth.
  std::string story() {
    call_stacks.begin();
    EXPECT_TRUE(reader.begin(1'000));
    std::uint32_t at = 0;
    const std::uint64_t offset = pool.chunks(row)[0];
    (void)reader.take({pool.memory().data() + offset, pool.chunk(offset).size}, at, 1, 1'000);
    pairing.take(reader.sorted(), reader, around);
    std::string words;
    for (const RunEvent& event : events()) {
      const char* const how = event.kind == RunEventKind::kEnter   ? "+"
                              : event.kind == RunEventKind::kLeave ? "-"
                              : event.kind == RunEventKind::kStack ? "="
                                                                   : nullptr;
      if (how == nullptr) continue;
      words += how;
      words += static_cast<char>('a' + event.function);
      words += std::to_string(event.depth) + " ";
    }
    return words;
  }

  tests::PoolMemory memory;
  test_support::LanePool pool{memory.bytes()};
  std::uint32_t row = pool.begin_thread(1);
  CallStacks call_stacks{functions};
};

TEST_F(PairingOfStacks, StandBehindTheirEntries) {
  record(Kind::kEnter, 10, kTop, 1);
  stack(11, kTop - 64, 2);
  record(Kind::kEnter, 12, kTop - 64, 2);
  record(Kind::kLeave, 13, kTop - 64);
  EXPECT_EQ(story(), "+a0 +b1 =b1 -b1 ");
}

// Between the stack and the entry a handler ran, whose function may be the same.
TEST_F(PairingOfStacks, DoNotStandBehindAHandlersEntry) {
  record(Kind::kEnter, 10, kTop, 1);
  stack(11, kTop - 64, 2);
  record(Kind::kEnter, 12, kTop - 1024, 3);
  record(Kind::kLeave, 13, kTop - 1024);
  record(Kind::kEnter, 14, kTop - 64, 2);
  stack(21, kTop - 128, 2);
  record(Kind::kEnter, 22, kTop - 1024, 2);
  record(Kind::kLeave, 23, kTop - 1024);
  record(Kind::kEnter, 24, kTop - 128, 2);
  EXPECT_EQ(story(), "+a0 =b1 +c1 -c1 +b1 =b2 +b2 -b2 +b2 ");
}

TEST_F(PairingOfStacks, OfAHandlerStandBehindItsOwnEntry) {
  stack(11, kTop, 1);
  stack(12, kTop - 1024, 2);
  record(Kind::kEnter, 13, kTop - 1024, 2);
  record(Kind::kLeave, 14, kTop - 1024);
  record(Kind::kEnter, 15, kTop, 1);
  EXPECT_EQ(story(), "=a0 +b0 =b0 -b0 +a0 ");
}

}  // namespace
}  // namespace jitquill::drain
