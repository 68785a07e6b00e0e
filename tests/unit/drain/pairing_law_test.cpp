// Whatever a thread does comes back as it did it: through a lane's memory, its reader and the pairing.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "tests/support/lane_pool.hpp"
#include "tests/unit/drain/paired.hpp"
#include "tests/unit/drain/pool_memory.hpp"
#include "tests/unit/drain/run_model.hpp"

namespace jitquill::tests {
namespace {

struct Way {
  bool tells_stacks;     // of all; that of signals is always told
  bool are_interrupted;  // records stand behind those of the handlers that interrupted their hooks
  bool saves_state;      // now and then goes on in another Pairing
};

std::vector<ModelRecord> as_written(const RunModel& model, bool are_interrupted) {
  std::vector<ModelRecord> records = model.records;
  for (const auto& [first, behind] : model.handlers) {
    if (!are_interrupted || behind >= records.size()) continue;
    const auto at = [&](std::size_t i) { return records.begin() + static_cast<std::ptrdiff_t>(i); };
    std::rotate(at(first), at(behind), at(behind + 1));
  }
  return records;
}

void write(test_support::LanePool& pool, std::uint32_t row, const std::vector<ModelRecord>& records) {
  using lanes::RecordKind;
  for (const ModelRecord& record : records) {
    const bool is_key = record.kind == RecordKind::kEnterKey || record.kind == RecordKind::kLeaveKey;
    if (is_key) {
      pool.put_key(row, record.kind, record.what, static_cast<std::uint32_t>(record.slot), record.ticks);
    } else {
      pool.put(row, record.kind, record.what, record.slot, record.ticks);
    }
  }
}

// Numbers of functions as the model has them: by their ids.
std::vector<RunEvent> by_id(const std::vector<RunEvent>& events, drain::Functions& functions) {
  std::map<FunctionNumber, FunctionNumber> ids;
  functions.define_new(
      [&](const FunctionInfo& info) { ids[info.number] = static_cast<FunctionNumber>(info.code_id - 1); });
  std::vector<RunEvent> named = events;
  for (RunEvent& event : named) event.function = ids[event.function];
  return named;
}

std::string words_of(const RunEvent& e) {
  std::string words;
  for (const std::uint64_t v :
       {std::uint64_t{static_cast<std::uint8_t>(e.kind)}, e.when_ns, e.since_ns, e.amount,
        std::uint64_t{e.function}, std::uint64_t{e.depth}, std::uint64_t{static_cast<std::uint8_t>(e.end)}})
    words += std::to_string(v) + " ";
  return words;
}

// Stacks may be numbered otherwise, but each by one number.
void expect_same(const std::vector<RunEvent>& truth, const std::vector<RunEvent>& events) {
  ASSERT_EQ(truth.size(), events.size());
  std::map<int, int> numbers;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    ASSERT_EQ(words_of(truth[i]), words_of(events[i])) << "event " << i << " of " << truth.size();
    const auto [at, is_new] = numbers.emplace(truth[i].stack, events[i].stack);
    ASSERT_EQ(at->second, events[i].stack) << "event " << i;
  }
}

void expect_model(std::uint64_t seed, const Way& way) {
  RunModel model(seed);
  for (int i = 0; i < 1'500; ++i) model.step();
  model.end_handlers();
  const std::size_t before_end = model.events.size();
  model.end(FrameEnd::kThreadEnd);
  PoolMemory memory;
  test_support::LanePool pool(memory.bytes());
  const std::uint32_t row = pool.begin_thread(1);
  write(pool, row, as_written(model, way.are_interrupted));

  Paired paired;
  paired.know_functions();
  const std::uint64_t signals = RunModel::stack_top(RunModel::kSignals);
  paired.learn(signals - 0x20000, signals, drain::StackKind::kSignals);
  for (std::size_t i = 0; way.tells_stacks && i < RunModel::kFibers; ++i)
    paired.learn(RunModel::stack_top(i) - 0x80000, RunModel::stack_top(i));
  drain::LaneReader& reader = paired.reader;
  drain::Pairing saved;
  Bytes state;
  const auto pair = [&] {
    paired.pairing.take(reader.sorted(), reader, paired.around);
    ASSERT_TRUE(reader.begin(97));
    if (!way.saves_state) return;
    state.clear();
    paired.pairing.put_changes(state);
    ByteSource source(state.view());
    ASSERT_TRUE(saved.apply(source));
    ASSERT_TRUE(source.is_at_end());
  };
  // Those that stand behind a handler's may do so at a chunk's end: all at once.
  ASSERT_TRUE(reader.begin(way.are_interrupted ? 100'000 : 97));
  for (const std::uint64_t chunk : pool.chunks(row)) {
    std::uint32_t at = 0;
    const drain::ChunkView view{pool.memory().data() + chunk, pool.chunk(chunk).size};
    while (reader.take(view, at, 1, 10) == drain::LaneReader::Stop::kFull) pair();
  }
  pair();
  drain::Pairing& last = way.saves_state ? saved : paired.pairing;
  EXPECT_EQ(paired.pairing.unpaired(), 0u);
  const std::size_t paired_before_end = paired.events().size();
  ASSERT_EQ(paired_before_end, before_end) << "seed " << seed;
  last.end(FrameEnd::kThreadEnd, model.now, paired.around);
  std::vector<RunEvent> events = by_id(paired.events(), paired.functions);
  ASSERT_EQ(events.back().kind, RunEventKind::kThreadEnd);
  events.pop_back();
  // All ends are at one time: stacks may close in any order.
  std::map<int, int> numbers;
  for (std::size_t i = 0; i < std::min(model.events.size(), before_end); ++i)
    numbers[model.events[i].stack] = events[i].stack;
  const auto by_stack = [&](std::vector<RunEvent>& all, auto number) {
    std::stable_sort(all.begin() + static_cast<std::ptrdiff_t>(before_end), all.end(),
                     [&](const RunEvent& a, const RunEvent& b) { return number(a.stack) < number(b.stack); });
  };
  by_stack(model.events, [&](int n) { return numbers[n]; });
  by_stack(events, [](int n) { return n; });
  expect_same(model.events, events);
}

class PairingLaw : public testing::TestWithParam<Way> {};

TEST_P(PairingLaw, WhatAThreadDidComesBack) {
  for (std::uint64_t seed = 1; seed <= 40 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    expect_model(seed, GetParam());
  }
}

INSTANTIATE_TEST_SUITE_P(Ways, PairingLaw,
                         testing::Values(Way{true, false, false}, Way{false, false, false},
                                         Way{true, true, false}, Way{false, true, true},
                                         Way{true, false, true}));

}  // namespace
}  // namespace jitquill::tests
