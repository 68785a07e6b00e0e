// The strict reader makes the trees of a calls file, and reports each broken rule at its line.
#include "tests/readers/calls/reader.hpp"

#include <gtest/gtest.h>

namespace calls_reader {
namespace {

constexpr std::string_view kHeadLine = "# jitquill calls 1, process 4711; times are CLOCK_MONOTONIC in s\n";
constexpr std::string_view kEndLine = "# ended at 12.000012000\n";

File read_between(const std::string& lines) {
  return read(std::string(kHeadLine) + lines + std::string(kEndLine));
}

TEST(CallsReader, MakesTheTreesAgain) {
  const File file = read_between(
      " 12.000000000 | nib-4711  |        | /* thread begins */\n"
      " 12.000001000 | nib-4711  |        | main() {\n"
      " 12.000002000 | nib-4711  |  0.120 |   fib();\n"
      " 12.000002000 | other-12  |  0.500 | f(int); /* stack 1 */\n"
      " 12.000002500 | nib-4711  |        |   fib() { /* stack 2 */\n"
      " 12.000002600 | nib-4711  |  1.400 |     print; /* unwound */\n"
      " 12.000002700 | nib-4711  |        |     /* marker: a /* mark */ */\n"
      " 12.000004000 | nib-4711  |  1.500 |   } /* stack 2 */ /* unwound */\n"
      " 12.000009000 | nib-4711  |        | /* 17 records lost between 12.000005000 and 12.000009000 */\n"
      " 12.000010215 | nib-4711  |  9.215 | }\n");
  EXPECT_EQ(describe(file.violations), "");
  ASSERT_EQ(file.threads.size(), 2u);
  const Thread& thread = file.threads.at("nib-4711");
  ASSERT_EQ(thread.calls.size(), 4u);
  EXPECT_EQ(thread.calls[0].caller, kNone);
  EXPECT_EQ(thread.calls[1].caller, 0u);
  EXPECT_EQ(thread.calls[2].caller, 0u);
  EXPECT_EQ(thread.calls[2].stack, 2u);
  EXPECT_EQ(thread.calls[3].caller, 0u);  // stack 0
  EXPECT_EQ(thread.calls[3].how, "unwound");
  EXPECT_EQ(thread.calls[0].end_ns, 12'000'010'215u);
  EXPECT_EQ(file.lost(), 17u);
  ASSERT_EQ(thread.events.size(), 1u);
  EXPECT_EQ(thread.events[0].words, "marker: a /* mark */");
  EXPECT_EQ(thread.events[0].depth, 2u);
  EXPECT_EQ(file.threads.at("other-12").calls[0].name, "f(int)");
  EXPECT_EQ(file.calls_by_name().at("fib"), 2u);
}

// Two fibers that take turns: each `}` is of its own stack.
TEST(CallsReader, ClosesWhatIsOpenOnTheSameStack) {
  const File file = read_between(
      " 1.000000001 | a-1 |  | f() { /* stack 1 */\n"
      " 1.000000002 | a-1 |  |   g() { /* stack 2 */\n"
      " 1.000000003 | a-1 |  |     leaf() { /* stack 1 */\n"
      " 1.000000005 | a-1 | 0.002 |     } /* stack 1 */\n"
      " 1.000000006 | a-1 | 0.005 | } /* stack 1 */ /* unwound */\n"
      " 1.000000006 | a-1 |  |   h() { /* stack 1 */\n"
      " 1.000000007 | a-1 | 0.005 |   } /* stack 2 */\n"
      " 1.000000008 | a-1 | 0.002 |   } /* stack 1 */\n");
  EXPECT_EQ(describe(file.violations), "");
  const auto& calls = file.threads.at("a-1").calls;
  ASSERT_EQ(calls.size(), 4u);
  EXPECT_EQ(calls[1].caller, 0u);
  EXPECT_EQ(calls[2].caller, 0u);
  EXPECT_EQ(calls[0].how, "unwound");
  EXPECT_EQ(calls[1].end_ns, 1'000'000'007u);
  EXPECT_EQ(calls[3].caller, 1u);
}

struct Damage {
  std::string lines;
  Rule rule;
  std::uint64_t line;
};

TEST(CallsReader, ReportsEachBrokenRule) {
  const std::vector<Damage> damages = {
      {"what is this\n", Rule::kColumns, 2},
      {" 1.000000001 | a-1 |  | f() {\n 1.000000000 | a-1 | 0.000 | }\n", Rule::kTime, 3},
      {" 1.000000001 | a-1 |  | f() {\n 1.000001001 | a-1 | 0.999 | }\n", Rule::kDuration, 3},
      {" 1.000000001 | a-1 |  | f();\n", Rule::kDuration, 2},
      {" 1.000000001 | a-1 | 0.001 |   f();\n", Rule::kDepth, 2},
      {" 1.000000001 | a-1 | 0.001 |  f();\n", Rule::kDepth, 2},
      {" 1.000000001 | a-1 |  |   /* event 2000, 1 bytes */\n", Rule::kDepth, 2},
      {" 1.000000001 | a-1 |  | /* event 2000\n", Rule::kColumns, 2},
      {" 1.000000001 | a-1 | 0.001 | /* event 2000, 1 bytes */\n", Rule::kDuration, 2},
      {" 1.000000001 | a-1 | 0.001 | }\n", Rule::kBalance, 2},
      {" 1.000000001 | a-1 |  | f() {\n", Rule::kBalance, 3},
      {" 1.000000001 | a-1 |  | f() {\n 1.000000002 | a-1 | 0.001 | } /* stack 1 */\n", Rule::kBalance, 3},
      {" 1.000000001 | a-1 |  | f() {\n 1.000000002 | a-1 | 0.001 | } how\n", Rule::kHow, 3},
      {"# ended at 1.000000000\n", Rule::kEnd, 3},
  };
  for (const Damage& damage : damages) {
    const File file = read_between(damage.lines);
    ASSERT_FALSE(file.violations.empty()) << damage.lines;
    EXPECT_EQ(name(file.violations[0].rule), std::string(name(damage.rule))) << damage.lines;
    EXPECT_EQ(file.violations[0].line, damage.line) << damage.lines;
  }
  EXPECT_EQ(read("").violations.at(0).rule, Rule::kEnd);
  EXPECT_EQ(read("x\n").violations.at(0).rule, Rule::kHead);
  EXPECT_EQ(read(std::string(kHeadLine) + "cut").violations.at(0).rule, Rule::kLineTorn);
}

}  // namespace
}  // namespace calls_reader
