#include "tests/unit/nib/nib_programs.hpp"

namespace nib::test {
namespace {

TEST(Statements, PrintWritesOneLineEach) {
  EXPECT_EQ(output_of("print(1); print(true); print(-9223372036854775808); print(0x7fffffffffffffff);"),
            "1\ntrue\n-9223372036854775808\n9223372036854775807\n");
  EXPECT_EQ(output_of("let b = 1 == 2; print(b); let n = 0; print(n);"), "false\n0\n");
}

TEST(Statements, EmptyMainPrintsNothing) {
  EXPECT_EQ(output_of(""), "");
}

TEST(Statements, IfTakesTheFirstTrueBranch) {
  const std::string text =
      "fn f(n: int) { if n < 0 { print(-1); } else if n == 0 { print(0); } else if n < 10 { print(1); }\n"
      "  else { print(2); } }\n"
      "fn main() { f(-5); f(0); f(9); f(10); }";
  EXPECT_EQ(run_text(text).output, "-1\n0\n1\n2\n");
}

TEST(Statements, IfWithoutElseFallsThrough) {
  EXPECT_EQ(output_of("if false { print(1); } else if 1 > 2 { print(2); } print(3);"), "3\n");
  EXPECT_EQ(output_of("if true {} else { print(1); } if false {} print(3);"), "3\n");
}

TEST(Statements, WhileTestsBeforeEachRound) {
  EXPECT_EQ(output_of("var i = 0; while i < 3 { print(i); i = i + 1; } print(i);"), "0\n1\n2\n3\n");
  EXPECT_EQ(output_of("while false { print(1); } print(2);"), "2\n");
}

TEST(Statements, BreakAndContinueBelongToTheInnermostLoop) {
  EXPECT_EQ(
      output_of(
          "var i = 0;\n"
          "while true {\n"
          "  i = i + 1;\n"
          "  if i == 2 { continue; }\n"
          "  if i > 4 { break; }\n"
          "  var j = 0;\n"
          "  while j < 10 { j = j + 1; if j % 2 == 0 { continue; } if j > 3 { break; } print(i * 10 + j); }\n"
          "}\n"
          "print(i);"),
      "11\n13\n31\n33\n41\n43\n5\n");
}

TEST(Statements, ReturnLeavesLoopsAndBlocks) {
  EXPECT_EQ(
      run_text(
          "fn f(n: int) -> int { var i = 0; while true { { if i * i >= n { return i; } } i = i + 1; } }\n"
          "fn main() { print(f(50)); { return; } print(1); }")
          .output,
      "8\n");
}

TEST(Statements, WhatCannotRunIsLeftOut) {
  EXPECT_EQ(output_of("print(1); return; print(2); while true {}"), "1\n");
  EXPECT_EQ(output_of("while true { print(1); break; print(2); } print(3);"), "1\n3\n");
  EXPECT_EQ(run_text("fn f() -> int { if true { return 1; } else { return 2; } print(3); return 4; }\n"
                     "fn main() { print(f()); }")
                .output,
            "1\n");
}

// Compiled only: they never end. The register allocator sees functions without any way to their end.
TEST(Statements, EndlessLoopsCompile) {
  for (const std::string_view text :
       {"fn main() { while true {} }", "fn main() { while true { while true { continue; } } }",
        "fn main() {} fn f(a: int) -> int { var b = a; while true { b = b * a + 1; } }",
        "fn main() {} fn f(a: int) -> int { while true { if a > 1 { return f(a); } else { continue; } } }"}) {
    const Source source = source_of(text);
    Diagnostics diagnostics;
    EXPECT_NE(compile(source, diagnostics), nullptr) << text;
  }
}

TEST(Statements, InnerVariablesHideOuterOnes) {
  EXPECT_EQ(output_of("let a = 1; { let a = a + 1; print(a); { var a = true; a = not a; print(a); } "
                      "print(a); } print(a);"),
            "2\nfalse\n2\n1\n");
}

TEST(Statements, VariablesOfALoopAreSetAnewEachRound) {
  EXPECT_EQ(output_of("var i = 0; while i < 3 { var n = 0; n = n + i; print(n); i = i + 1; }"), "0\n1\n2\n");
}

// More variables than there are registers, all alive to the end, across a call and a loop.
TEST(Statements, ManyLiveVariablesKeepTheirValues) {
  std::string text = "fn same(n: int) -> int { return n; }\nfn main() {\n";
  std::string sum = "0";
  std::int64_t expected = 0;
  for (int i = 0; i < 100; ++i) {
    const std::string name = "v" + std::to_string(i);
    text += "var " + name + " = same(" + std::to_string(i * i) + ");\n";
    sum += " + " + name + " * " + std::to_string(i + 1);
    expected += (std::int64_t{i} * i + 3 * (i % 7)) * (i + 1);
  }
  text += "var round = 0; while round < 3 {\n";
  for (int i = 0; i < 100; ++i) {
    text += "v" + std::to_string(i) + " = v" + std::to_string(i) + " + " + std::to_string(i % 7) + ";\n";
  }
  text += "round = same(round) + 1; }\nprint(" + sum + ");\n}\n";
  EXPECT_EQ(run_text(text).output, std::to_string(expected) + "\n");
}

TEST(Statements, LongFunctionsCompile) {
  std::string body = "var a = 1;";
  for (int i = 0; i < 3000; ++i) body += "if a % 3 == 0 { a = a / 3; } else { a = a * 2 + 1; }\n";
  std::int64_t a = 1;
  for (int i = 0; i < 3000; ++i) a = a % 3 == 0 ? a / 3 : a * 2 + 1;
  EXPECT_EQ(output_of(body + "print(a);"), std::to_string(a) + "\n");
}

TEST(Statements, AFrameLargerThanTheReserveIsAnError) {
  std::string text = "fn f() -> int { return 1; } fn main() {\n";
  for (int i = 0; i < 9000; ++i) text += "let v" + std::to_string(i) + " = f();\n";
  std::string sum = "var s = 0;\n";
  for (int i = 0; i < 9000; ++i) sum += "s = s + v" + std::to_string(i) + ";\n";
  const Source source = source_of(text + sum + "}");
  Diagnostics diagnostics;
  EXPECT_EQ(compile(source, diagnostics), nullptr);
  ASSERT_EQ(diagnostics.sorted().size(), 1u);
  EXPECT_EQ(short_line(diagnostics.sorted()[0]), "1:32: function 'main' needs too large a stack frame");
}

}  // namespace
}  // namespace nib::test
