// What must stand in one batch does.
#include "agent/drain/event_buffer.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace jitquill::drain {
namespace {

class Batches final : public BatchTaker {
 public:
  void take_batch(std::span<const RunEvent> events, std::span<const Post>,
                  std::span<const CallStack> stacks) noexcept override {
    ++count;
    for (std::size_t i = 0; i < events.size(); ++i) {
      if (events[i].kind != RunEventKind::kStack) continue;
      ++stacks_seen;
      EXPECT_LT(events[i].amount, stacks.size());
      if (i == 0 || events[i - 1].function != events[i].function) ++torn;
    }
  }
  std::size_t count = 0;
  std::size_t stacks_seen = 0;
  std::size_t torn = 0;
};

void put(EventBuffer& buffer, RunEventKind kind, FunctionNumber function) {
  RunEvent event{};
  event.kind = kind;
  event.function = function;
  buffer.next() = event;
}

// `callers` of each stack, and that many other events in front of each entry.
void expect_whole(std::size_t callers, std::size_t others) {
  constexpr std::size_t kStacks = 3'000;
  Batches batches;
  const auto buffer = std::make_unique<EventBuffer>(batches);
  const std::vector<FunctionNumber> row(callers, 7);
  for (std::uint32_t i = 0; i < kStacks; ++i) {
    for (std::size_t k = 0; k < others; ++k) put(*buffer, RunEventKind::kLeave, 1);
    put(*buffer, RunEventKind::kEnter, 100 + i);
    buffer->stack(1, 100 + i, 0, {row, false});
  }
  buffer->flush();
  EXPECT_EQ(batches.stacks_seen, kStacks);
  EXPECT_EQ(batches.torn, 0u);
  EXPECT_GT(batches.count, 2u);
}

TEST(EventBuffer, KeepsAStackBehindItsEntryHoweverManyThereAre) {
  expect_whole(2, 0);
}

TEST(EventBuffer, KeepsAStackBehindItsEntryHoweverDeepTheyAre) {
  expect_whole(500, 0);
}

TEST(EventBuffer, KeepsAStackBehindItsEntryHoweverManyEventsThereAre) {
  for (const std::size_t others : {14u, 13u}) expect_whole(2, others);
}

}  // namespace
}  // namespace jitquill::drain
