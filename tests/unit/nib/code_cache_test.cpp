// Code that comes and goes below a limit.
#include "tests/unit/nib/nib_programs.hpp"

namespace nib::test {
namespace {

constexpr HeapOptions kStressed{.limit = std::size_t{1} << 24, .is_stressed = true};
constexpr std::size_t kLimit = 16384;

// `count` functions, each called `rounds` times in turn.
std::string churning(int count, int rounds) {
  std::string text, calls;
  for (int i = 0; i < count; ++i) {
    const std::string name = "f" + std::to_string(i);
    text += "fn " + name + "(n: int) -> int { if n % 2 == 0 { return n / 2; } return n * 3 + " +
            std::to_string(i) + "; }\n";
    calls += "n = " + name + "(n) % 1000003;\n";
  }
  return text + "fn main() { var n = 7; var round = 0; while round < " + std::to_string(rounds) + " {\n" +
         calls + "round = round + 1; } print(n); }";
}

std::string expected(int count, int rounds) {
  std::int64_t n = 7;
  for (int round = 0; round < rounds; ++round)
    for (int i = 0; i < count; ++i) n = (n % 2 == 0 ? n / 2 : n * 3 + i) % 1000003;
  return std::to_string(n) + "\n";
}

TEST(CodeCache, StaysBelowItsLimit) {
  const Source source = source_of(churning(200, 5));
  for (const Tiers tiers : {Tiers::kFirst, Tiers::kBoth}) {
    Diagnostics diagnostics;
    const auto executable = compile(source, diagnostics, {.tiers = tiers, .hot = 2, .code_limit = kLimit});
    ASSERT_NE(executable, nullptr);
    std::string output;
    EXPECT_FALSE(run(executable->main(), [&](std::string_view line) { output.append(line); }).error);
    EXPECT_EQ(output, expected(200, 5));
    // main runs, and what is compiled is there before there is room.
    EXPECT_LT(executable->code_size(), 3 * kLimit);
    EXPECT_EQ(executable->code_limit(), kLimit);
    int unloaded = 0;
    for (int i = 0; i < 200; ++i) unloaded += executable->forms_of("f" + std::to_string(i)).empty() ? 1 : 0;
    EXPECT_GT(unloaded, 50);
    EXPECT_LT(unloaded, 200);
  }
}

TEST(CodeCache, GrowsWhenItIsTooSmallForWhatRuns) {
  const Source source = source_of(churning(30, 2000));
  Diagnostics diagnostics;
  const auto executable = compile(source, diagnostics, {.code_limit = 1024});
  ASSERT_NE(executable, nullptr);
  std::string output;
  EXPECT_FALSE(run(executable->main(), [&](std::string_view line) { output.append(line); }).error);
  EXPECT_EQ(output, expected(30, 2000));
  // As far as it must.
  EXPECT_GT(executable->code_limit(), 1024u);
  EXPECT_LT(executable->code_limit(), kLimit * 4);
}

TEST(CodeCache, FunctionsAreCompiledWhenTheyAreCalled) {
  const Source source =
      source_of("fn f() { print(1); } fn g() { print(2); } fn main() { f(); if false { g(); } }");
  Diagnostics diagnostics;
  const auto executable = compile(source, diagnostics, {.code_limit = kLimit});
  ASSERT_NE(executable, nullptr);
  EXPECT_TRUE(executable->forms_of("f").empty());
  EXPECT_FALSE(run(executable->main(), [](std::string_view) {}).error);
  EXPECT_EQ(executable->forms_of("f").size(), 1u);
  EXPECT_TRUE(executable->forms_of("g").empty());
}

// In registers and on the stack, and while another thread collects.
TEST(CodeCache, ArgumentsPassTheCallOfWhatIsNotThere) {
  EXPECT_EQ(
      run_text_as(
          "record P { s: str }\n"
          "fn f(a: str, x: float, b: [int], n: int, p: P, y: float, c: str, d: bool, e: str, q: P, z: float)"
          " -> str {\n"
          "  return a + str(x) + str(b[0]) + str(n) + p.s + str(y) + c + str(d) + e + q.s + str(z); }\n"
          "fn g(n: int) { if n == 0 { return; } let s = str(n) + \"!\"; g(n - 1); }\n"
          "fn main() { spawn g(50);\n"
          "  print(f(\"a\" + \"b\", 1.5, array(1, 7), 8, P(\"p\" + \"q\"), 2.5, \"c\" + \"d\", true,\n"
          "    \"e\" + \"f\", P(\"q\" + \"r\"), 3.5)); }",
          kStressed, {.code_limit = kLimit})
          .output,
      "ab1.578pq2.5cdtrueefqr3.5\n");
}

TEST(CodeCache, ThreadsMakeRoomForEachOther) {
  std::string text = churning(60, 5);
  text.replace(text.find("fn main()"), 9, "fn work()");
  text += "\nfn main() { let a = spawn work(); let b = spawn work(); work(); join(a); join(b); }";
  const std::string line = expected(60, 5);
  EXPECT_EQ(run_text_as(text, {}, {.hot = 3, .code_limit = kLimit}).output, line + line + line);
}

TEST(CodeCache, WhatRunsStays) {
  EXPECT_EQ(run_text_as("fn a(n: int) -> int { if n == 0 { return 0; } let r = b(n - 1); return r + 1; }\n"
                        "fn b(n: int) -> int { if n == 0 { return 0; } let r = c(n - 1); return r + 2; }\n"
                        "fn c(n: int) -> int { if n == 0 { return 0; } let r = a(n - 1); return r + 3; }\n"
                        "fn main() { var i = 0; while i < 30 { print(a(i)); i = i + 1; } }",
                        {}, {.hot = 5, .code_limit = 1024})
                .output.substr(0, 15),
            "0\n1\n3\n6\n7\n9\n12\n");
}

}  // namespace
}  // namespace nib::test
