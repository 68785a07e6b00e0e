// Ends find their entries on whatever stack: words beside each other, fibers, signal stacks.
#include <gtest/gtest.h>

#include <set>

#include "tests/host/run/call_tree.hpp"
#include "tests/host/run/run_files.hpp"

namespace {

using calls_reader::Thread;
using run_files::difference;
using run_files::tree;
using test_support::TempFolder;

Thread run_stacks(const TempFolder& folder, const std::string& what, std::size_t rounds) {
  test_support::Child child(with_agent(folder, STACKS_HOST, {what, std::to_string(rounds)},
                                       "formats=calls hooks=* policy=lossless"));
  const auto ended = child.wait(60);
  EXPECT_TRUE(ended.succeeded()) << ended.describe();
  run_files::expect_whole(folder, child.pid());
  return run_files::only_thread(run_files::calls(folder));
}

std::string rounds_of(const std::string& round, std::size_t count) {
  std::string all = round;
  for (std::size_t i = 1; i < count; ++i) all += " " + round;
  return all;
}

TEST(Slots, InNeighbouringWordsAreToldApart) {
  const TempFolder folder;
  const std::size_t rounds = times(200, 20'000);
  std::string steps = "main(steps";
  for (int i = 0; i < 20; ++i) steps += "(steps";
  EXPECT_EQ(
      difference(tree(run_stacks(folder, "slots", rounds)), rounds_of(steps + std::string(21, ')'), rounds)),
      "");
}

class Fibers : public testing::TestWithParam<const char*> {};

TEST_P(Fibers, HaveTreesOfTheirOwn) {
  const TempFolder folder;
  const std::size_t rounds = times(3'000, 200'000);
  const Thread thread = run_stacks(folder, "fibers-" + std::string(GetParam()), rounds);
  std::map<std::string, std::set<unsigned>> stacks;
  for (const calls_reader::Call& call : thread.calls) stacks[call.name].insert(call.stack);
  ASSERT_EQ(stacks.size(), 5u);
  for (const auto& [name, numbers] : stacks) EXPECT_EQ(numbers.size(), 1u) << name << " is on several";
  EXPECT_EQ(difference(tree(thread, *stacks["scheduler"].begin()), "scheduler"), "");
  EXPECT_EQ(difference(tree(thread, *stacks["a"].begin()), rounds_of("a(a2)", rounds)), "");
  EXPECT_EQ(difference(tree(thread, *stacks["b"].begin()), rounds_of("b(b2)", rounds)), "");
}

std::string name_of(const testing::TestParamInfo<const char*>& info) {
  std::string name = info.param;
  std::erase(name, '-');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Stacks, Fibers,
                         testing::Values("apart-told", "apart-seen", "close-told", "close-seen",
                                         "inside-told"),
                         name_of);

class SignalStack : public testing::TestWithParam<const char*> {};

TEST_P(SignalStack, HasItsHandlersInsideWhatTheyInterrupt) {
  const TempFolder folder;
  const std::size_t rounds = times(1'000, 100'000);
  const Thread thread = run_stacks(folder, "signals-" + std::string(GetParam()), rounds);
  EXPECT_EQ(
      difference(tree(thread), rounds_of("main(handler(inner) handler!unwound(inner!unwound))", rounds)), "");
  unsigned stack = 0;
  for (const calls_reader::Call& call : thread.calls) {
    if (call.name == "main") {
      EXPECT_EQ(call.stack, 0u);
      continue;
    }
    if (stack == 0) stack = call.stack;
    ASSERT_EQ(call.stack, stack) << call.name;
  }
  EXPECT_NE(stack, 0u);
}

INSTANTIATE_TEST_SUITE_P(Signals, SignalStack, testing::Values("above", "below", "inside"), name_of);

}  // namespace
