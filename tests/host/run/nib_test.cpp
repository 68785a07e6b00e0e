// Exact call trees and counts of nib programs, on one thread and on two.
#include <gtest/gtest.h>

#include <fstream>

#include "tests/host/run/call_tree.hpp"
#include "tests/host/run/run_files.hpp"

namespace {

using calls_reader::Thread;
using run_files::difference;
using run_files::tree;
using test_support::Ended;
using test_support::TempFolder;

constexpr std::size_t kThreads = 2;

// Tests with a parameter run in the first tier, in the second, and where each function soon gets another one.
constexpr const char* kTiers[] = {"first", "second", "7"};

void run_nib(const TempFolder& folder, const char* tiers, const char* what, std::size_t size,
             std::size_t rounds, std::size_t threads, const std::string& options) {
  test_support::Child child(with_agent(
      folder, NIB_HOST, {what, std::to_string(size), std::to_string(rounds), std::to_string(threads), tiers},
      "policy=lossless hooks=* " + options));
  const Ended ended = child.wait(120);
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  EXPECT_EQ(ended.out + ended.err, "");
  run_files::expect_whole(folder, child.pid());
}

// Of each thread.
void expect_tree(const TempFolder& folder, std::size_t threads, const std::string& expected) {
  const auto file = run_files::calls(folder);
  std::size_t found = 0;
  for (const auto& [name, thread] : file.threads) {
    if (thread.calls.empty()) continue;
    ++found;
    ASSERT_EQ(difference(tree(thread), expected), "") << name;
    EXPECT_EQ(thread.begins, 1u);
    EXPECT_EQ(thread.ends, 1u);
    EXPECT_EQ(thread.lost, 0u);
  }
  EXPECT_EQ(found, threads);
}

std::string repeated(const std::string& text, std::size_t times, const char* between) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) all += (i == 0 ? "" : between) + text;
  return all;
}

// `down` that calls itself `size` times.
std::string nest(std::size_t size, const std::string& how) {
  return repeated("down" + how, size + 1, "(") + std::string(size, ')');
}

class NibTiers : public testing::TestWithParam<const char*> {
 protected:
  static std::string option() {
    const std::string tiers = GetParam();
    return tiers == "first" ? "--tier1" : tiers == "second" ? "--tier2" : "--hot=" + tiers;
  }
};
class NibCalls : public NibTiers {};
class NibCounts : public NibTiers {};
class NibStacks : public NibTiers {};

TEST_P(NibCalls, OfADeepRecursion) {
  const TempFolder folder;
  const std::size_t size = times(3'000, 100'000);
  run_nib(folder, GetParam(), "deep", size, 1, kThreads, "formats=calls");
  expect_tree(folder, kThreads, "main(" + nest(size, "") + ")");
}

// Each entry of `down` has all that are open above it, main, and the host up to its thread's start.
TEST_P(NibStacks, AreTheTrueCallers) {
  const TempFolder folder;
  constexpr std::size_t kSize = 20;
  run_nib(folder, GetParam(), "deep", kSize, 1, kThreads, "formats=calls stack=down");
  std::size_t found = 0;
  for (const auto& [name, thread] : run_files::calls(folder).threads) {
    std::size_t open = 0;
    for (const auto& call : thread.calls) {
      if (call.name != "down") {
        EXPECT_TRUE(call.callers.empty()) << call.name;
        continue;
      }
      std::vector<std::string> expected(open++, "down");
      expected.push_back("main");
      ASSERT_GT(call.callers.size(), expected.size());
      EXPECT_TRUE(std::equal(expected.begin(), expected.end(), call.callers.begin())) << open;
      EXPECT_FALSE(call.is_stack_partial);
      ++found;
    }
  }
  EXPECT_EQ(found, kThreads * (kSize + 1));
}

TEST_P(NibStacks, PassTailCalls) {
  const TempFolder folder;
  run_nib(folder, GetParam(), "tail", 30, 1, 1, "formats=calls stack=sum");
  std::size_t found = 0;
  for (const auto& [name, thread] : run_files::calls(folder).threads) {
    for (const auto& call : thread.calls) {
      if (call.name != "sum") continue;
      ASSERT_FALSE(call.callers.empty());
      EXPECT_EQ(call.callers.front(), "main");
      ++found;
    }
  }
  EXPECT_EQ(found, 31u);
}

TEST_P(NibCounts, OfADeepRecursion) {
  const TempFolder folder;
  constexpr std::size_t kSize = 100'000, kRounds = 2;
  run_nib(folder, GetParam(), "deep", kSize, kRounds, kThreads, "formats=counts");
  const auto rows = run_files::counts(folder, true);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows.at("main").calls, kThreads * kRounds);
  EXPECT_EQ(rows.at("down").calls, kThreads * kRounds * (kSize + 1));
  if (std::string(GetParam()) == "7") return;  // times of two versions cannot be added
  // Of a recursion the outermost counts, and all of main is in it or main's own.
  EXPECT_EQ(rows.at("main").total_ns, rows.at("main").self_ns + rows.at("down").total_ns);
  EXPECT_EQ(rows.at("down").total_ns, rows.at("down").self_ns);
}

TEST_P(NibCalls, OfATailChain) {
  const TempFolder folder;
  const std::size_t size = times(3'000, 1'000'000);
  run_nib(folder, GetParam(), "tail", size, 1, kThreads, "formats=calls");
  expect_tree(folder, kThreads, "main(" + repeated("sum!tail call", size, " ") + " sum)");
}

TEST_P(NibCounts, OfATailChain) {
  const TempFolder folder;
  constexpr std::size_t kSize = 1'000'000;
  run_nib(folder, GetParam(), "tail", kSize, 1, kThreads, "formats=counts");
  const auto rows = run_files::counts(folder, true);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows.at("main").calls, kThreads);
  EXPECT_EQ(rows.at("sum").calls, kThreads * (kSize + 1));
}

// That a frame was removed is seen at the next call; behind the last there is none.
TEST_P(NibCalls, ThatAnExceptionLeaves) {
  const TempFolder folder;
  const std::size_t rounds = times(50, 1'000);
  constexpr std::size_t kSize = 20;
  run_nib(folder, GetParam(), "throw", kSize, rounds, kThreads, "formats=calls,counts");
  const std::string unwound = "main!unwound(" + nest(kSize, "!unwound") + ")";
  const std::string last = "main!thread end(" + nest(kSize, "!thread end") + ")";
  expect_tree(folder, kThreads, repeated(unwound + " ", rounds - 1, "") + last);
  const auto rows = run_files::counts(folder, true);
  EXPECT_EQ(rows.at("main").calls, kThreads * rounds);
  EXPECT_EQ(rows.at("down").calls, kThreads * rounds * (kSize + 1));
}

TEST_P(NibCalls, ThatALongjmpLeaves) {
  const TempFolder folder;
  const std::size_t rounds = times(50, 1'000);
  constexpr std::size_t kSize = 20;
  run_nib(folder, GetParam(), "jump", kSize, rounds, kThreads, "formats=calls");
  const std::string inner = "main!unwound(" + nest(kSize, "!unwound") + ")";
  expect_tree(folder, kThreads, repeated("main(outer(" + inner + " " + inner + "))", rounds, " "));
}

// Calls of place() for a board of `size`, by the program's own rule.
std::uint64_t placings(unsigned all, unsigned columns, unsigned left, unsigned right) {
  std::uint64_t calls = 1;
  for (unsigned free = all & ~(columns | left | right); columns != all && free != 0; free &= free - 1) {
    const unsigned queen = free & -free;
    calls += placings(all, columns | queen, (left | queen) << 1, (right | queen) >> 1);
  }
  return calls;
}

TEST_P(NibCounts, OfTheDemosPrograms) {
  const TempFolder folder;
  const Ended ended =
      run(with_agent(folder, DEMO_JIT, {option(), PROGRAMS "/nqueens.nib"}, "formats=counts hooks=*"));
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  const auto queens = run_files::counts(folder, true);
  std::uint64_t calls = 0;
  for (unsigned size = 1; size <= 12; ++size) calls += placings((1u << size) - 1, 0, 0, 0);
  EXPECT_EQ(queens.at("place").calls, calls);
  EXPECT_EQ(queens.at("queens").calls, 12u);
  EXPECT_EQ(queens.at("main").calls, 1u);
}

TEST_P(NibCounts, OfTailCallsThroughSeveralFunctions) {
  const TempFolder folder;
  const Ended ended =
      run(with_agent(folder, DEMO_JIT, {option(), PROGRAMS "/tail.nib"}, "formats=counts hooks=*"));
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  const auto rows = run_files::counts(folder, true);
  EXPECT_EQ(rows.at("sum").calls, 1'000'001u);
  EXPECT_EQ(rows.at("even").calls, 1'000'001u);
  EXPECT_EQ(rows.at("odd").calls, 1'000'001u);
  EXPECT_EQ(rows.at("first").calls, 333'335u);
  EXPECT_EQ(rows.at("second").calls, 333'334u);
  EXPECT_EQ(rows.at("third").calls, 333'334u);
}

// Run-time errors leave by a longjmp of the runtime's own.
TEST(NibPrograms, ThatFailGiveTheSameWithSitesOnAndOffAndWithoutAnAgent) {
  const TempFolder folder;
  const std::string path = folder.file("fails.nib");
  std::ofstream(path) << "fn f(n: int) -> int { print(n); if n == 0 { fail(\"bottom\"); } let m = f(n - 1);"
                         " return m; }\nfn main() { print(f(5)); }\n";
  const std::vector<std::string> arguments = {"--sites=always", path};
  const Ended plain =
      test_support::run({.words = {DEMO_JIT, arguments[0], path}, .environment = {}, .folder = {}});
  EXPECT_EQ(plain.exit_code, 1);
  EXPECT_EQ(plain.out, "5\n4\n3\n2\n1\n0\n");
  for (const char* hooks : {"*", "none"}) {
    const TempFolder outputs;
    const Ended ended =
        run(with_agent(outputs, DEMO_JIT, arguments, "formats=calls,counts hooks=" + std::string(hooks)));
    EXPECT_EQ(ended.exit_code, plain.exit_code);
    EXPECT_EQ(ended.out, plain.out);
    const auto counted = run_files::counts(outputs);
    if (std::string(hooks) == "none") {
      EXPECT_TRUE(counted.empty());
    } else {
      EXPECT_EQ(counted.at("f").calls, 6u);
      EXPECT_EQ(tree(run_files::only_thread(run_files::calls(outputs))),
                "main!process end(" + repeated("f!process end", 6, "(") + "))))))");
    }
  }
}

// A loop that turns goes on in the second tier, a block that never ran in the first: no call is seen of it.
TEST_P(NibCalls, OfLoopsThatChangeTheirCode) {
  const TempFolder folder;
  const std::string path = folder.file("loops.nib");
  std::ofstream(path) << "fn leaf(n: int) -> int { return n + 1; }\n"
                         "fn rare(n: int) -> int { return n + 2; }\n"
                         "fn loop(rounds: int) -> int {\n"
                         "  var i = 0; var sum = 0;\n"
                         "  while i < rounds {\n"
                         "    if i == 40 { sum = sum + rare(i); } else { sum = leaf(sum); }\n"
                         "    i = i + 1;\n"
                         "  }\n"
                         "  return sum;\n"
                         "}\n"
                         "fn main() { print(loop(60)); print(loop(41)); }\n";
  const Ended ended = run(with_agent(folder, DEMO_JIT, {option(), path}, "formats=calls hooks=*"));
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  EXPECT_EQ(ended.out, "101\n82\n");
  const std::string forty = repeated("leaf", 40, " ") + " rare";
  EXPECT_EQ(tree(run_files::only_thread(run_files::calls(folder))),
            "main(loop(" + forty + repeated(" leaf", 19, "") + ") loop(" + forty + "))");
}

std::string name_of(const testing::TestParamInfo<const char*>& tiers) {
  return "Of" + std::string(tiers.param);
}

INSTANTIATE_TEST_SUITE_P(Tier, NibCalls, testing::ValuesIn(kTiers), name_of);
INSTANTIATE_TEST_SUITE_P(Tier, NibCounts, testing::ValuesIn(kTiers), name_of);
INSTANTIATE_TEST_SUITE_P(Tier, NibStacks, testing::ValuesIn(kTiers), name_of);

}  // namespace
