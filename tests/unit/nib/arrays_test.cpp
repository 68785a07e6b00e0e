// Arrays of running programs: elements, lengths, references, and every way past the bounds.
#include <functional>

#include "tests/unit/nib/nib_programs.hpp"

namespace nib::test {
namespace {

TEST(Arrays, AllElementsStartWithTheValue) {
  EXPECT_EQ(output_of("let a = array(3, -7); print(a[0]); print(a[1]); print(a[2]); print(len(a));"),
            "-7\n-7\n-7\n3\n");
  EXPECT_EQ(output_of("let a = array(2, true); let b = array(2, false); print(a[1]); print(b[0]);"),
            "true\nfalse\n");
  EXPECT_EQ(output_of("let n = 2; let a = array(n * n, n < 3); print(len(a)); print(a[n + 1]);"),
            "4\ntrue\n");
}

TEST(Arrays, ElementsKeepWhatIsStored) {
  EXPECT_EQ(output_of("let a = array(4, 0); let n = 5; a[0] = -9223372036854775808; a[1] = 2147483648;\n"
                      "a[2] = -1; a[3] = n; print(a[0]); print(a[1]); print(a[2]); print(a[3]);"),
            "-9223372036854775808\n2147483648\n-1\n5\n");
  EXPECT_EQ(
      output_of("let a = array(3, false); let t = true; a[1] = t; print(a[0]); print(a[1]); print(a[2]);\n"
                "a[1] = false; a[2] = 1 < 2; print(a[0]); print(a[1]); print(a[2]);"),
      "false\ntrue\nfalse\nfalse\nfalse\ntrue\n");
}

// Neighbours share bytes if a store or a load is too wide.
TEST(Arrays, EveryElementIsItsOwn) {
  EXPECT_EQ(
      output_of("let a = array(100, 0); let b = array(100, false); var i = 0;\n"
                "while i < 100 { a[i] = i * 1000000007; b[i] = i % 3 == 0; i = i + 1; }\n"
                "i = 99; var wrong = 0;\n"
                "while i >= 0 { if a[i] != i * 1000000007 or b[i] != (i % 3 == 0) { wrong = wrong + 1; }\n"
                "  i = i - 1; } print(wrong);"),
      "0\n");
}

TEST(Arrays, ElementsAreOperandsAndConditions) {
  EXPECT_EQ(output_of("let a = array(3, 2); let b = array(2, true); a[1] = 5; b[1] = false;\n"
                      "print(a[0] * a[1] - a[2]); print(-a[1]); print(a[a[0]]); print(a[1] > a[0]);\n"
                      "if b[0] and not b[1] { print(b[0] == b[1]); } if b[1] or not b[0] { print(1); }"),
            "8\n-5\n2\ntrue\nfalse\n");
}

// The variable is index and target at once.
TEST(Arrays, AnElementMayReplaceItsOwnIndex) {
  EXPECT_EQ(output_of("let a = array(4, 0); a[0] = 3; a[3] = 1; a[1] = 2; var i = 0;\n"
                      "i = a[i]; print(i); i = a[i]; print(i); i = a[i]; print(i); a[i] = i; print(a[2]);\n"
                      "i = len(a) - i; print(i);"),
            "3\n1\n2\n2\n2\n");
}

TEST(Arrays, AssigningAndPassingShareTheElements) {
  EXPECT_EQ(
      run_text(
          "fn set(a: [int], i: int, n: int) -> [int] { a[i] = n; a = array(1, 0); a[0] = 9; return a; }\n"
          "fn main() { let a = array(2, 1); var b = a; b[0] = 5; print(a[0]);\n"
          "  let c = set(a, 1, 7); print(b[1]); print(len(c)); b = c; print(b[0]); print(a[0]); }")
          .output,
      "5\n7\n1\n9\n5\n");
}

TEST(Arrays, HoldArrays) {
  EXPECT_EQ(
      output_of(
          "let one = array(2, 0); let same = array(3, one); same[0][1] = 4; print(same[2][1]);\n"
          "same[1] = array(5, 6); print(len(same[1])); print(len(same[0])); print(same[1][4]);\n"
          "let deep = array(2, array(2, array(2, true))); deep[1][0][1] = false; print(deep[0][1][1]);"),
      "4\n5\n2\n6\nfalse\n");
}

TEST(Arrays, MayBeEmpty) {
  EXPECT_EQ(output_of("let a = array(0, 1); print(len(a)); print(len(array(0, a)));"), "0\n0\n");
}

TEST(Arrays, OperandsAreEvaluatedFromLeftToRight) {
  const std::string_view helpers =
      "fn seen(n: int) -> int { print(n); return n; }\n"
      "fn given(n: int, a: [int]) -> [int] { print(n); return a; }\n";
  EXPECT_EQ(
      run_text(std::string(helpers) + "fn main() { let a = array(seen(9), seen(8)); a[seen(1)] = seen(2);\n"
                                      "  print(given(3, a)[seen(4)] + seen(5)); }")
          .output,
      "9\n8\n1\n2\n3\n4\n5\n13\n");
}

// What is read stays as it was when a later operand stores.
TEST(Arrays, ElementsAreReadWhenTheyAreReached) {
  EXPECT_EQ(run_text("fn bump(a: [int]) -> int { a[0] = a[0] + 10; return 1; }\n"
                     "fn main() { let a = array(1, 5); print(a[0] + bump(a)); print(bump(a) + a[0]); a[0] = "
                     "bump(a) + 2;\n"
                     "  print(a[0]); }")
                .output,
            "6\n26\n3\n");
}

TEST(Arrays, SurviveCallsAndManyLiveVariables) {
  std::string text = "fn make(n: int) -> [int] { return array(n, n); }\nfn main() {\n";
  std::string sum = "0";
  int expected = 0;
  for (int i = 1; i <= 40; ++i) {
    const std::string name = "a" + std::to_string(i);
    text += "let " + name + " = make(" + std::to_string(i) + ");\n";
    sum += " + " + name + "[len(" + name + ") - 1] * len(" + name + ")";
    expected += i * i;
  }
  EXPECT_EQ(run_text(text + "print(" + sum + ");\n}").output, std::to_string(expected) + "\n");
}

// ---- Bounds ----

std::string outside(std::string_view index, int length) {
  return "index " + std::string(index) + " is outside of an array of " + std::to_string(length);
}

// With the index as a literal, a variable and a temporary, for reading and for writing.
void expect_bounds(std::string_view value, int length, std::string_view index, bool is_inside) {
  const std::string made = "fn same(n: int) -> int { return n; }\nfn main() { let i = " + std::string(index) +
                           "; let a = array(" + std::to_string(length) + ", " + std::string(value) +
                           "); print(1);\n";
  for (const std::string& form :
       {std::string(index), std::string("i"), std::string("same(i)"), std::string("i + 0")}) {
    for (const std::string& use : {"print(a[" + form + "])", "a[" + form + "] = " + std::string(value)}) {
      const Ran ran = run_text(made + use + "; print(2); }");
      const std::string column = std::to_string(use.find('[') + 1);
      EXPECT_EQ(ran.error, is_inside ? "" : "3:" + column + ": " + outside(index, length)) << use;
      EXPECT_EQ(ran.output.ends_with("2\n"), is_inside) << use;
      EXPECT_TRUE(ran.output.starts_with("1\n")) << use;
    }
  }
}

TEST(Bounds, TheFirstAndTheLastElementAreInside) {
  for (const std::string_view value : {"7", "true"}) {
    expect_bounds(value, 5, "0", true);
    expect_bounds(value, 5, "4", true);
    expect_bounds(value, 1, "0", true);
  }
}

TEST(Bounds, AllElseIsOutside) {
  for (const std::string_view value : {"7", "true"}) {
    for (const std::string_view index :
         {"-1", "5", "7", "2147483648", "4294967296", "-4294967296", "2305843009213693952",
          "9223372036854775807", "-9223372036854775808"}) {
      expect_bounds(value, 5, index, false);
    }
    expect_bounds(value, 0, "0", false);
    expect_bounds(value, 0, "-1", false);
  }
}

TEST(Bounds, EachIndexHasItsOwnPlace) {
  const std::string text =
      "fn f(a: [[int]], i: int, j: int) -> int {\n  return a[i]\n    [j] + a[0][j + 1];\n}\n"
      "fn main() { print(f(array(2, array(3, 1)), @)); }";
  const auto error_with = [&text](std::string_view arguments) {
    std::string program = text;
    return run_text(program.replace(program.find('@'), 1, arguments)).error;
  };
  EXPECT_EQ(error_with("1, 1"), "");
  EXPECT_EQ(error_with("2, 1"), "2:11: " + outside("2", 2));
  EXPECT_EQ(error_with("1, -1"), "3:5: " + outside("-1", 3));
  EXPECT_EQ(error_with("1, 2"), "3:15: " + outside("3", 3));
}

TEST(Bounds, TheValueIsComputedBeforeTheCheck) {
  const Ran ran = run_text(
      "fn seen(n: int) -> int { print(n); return n; }\nfn main() { let a = array(2, 0); a[seen(2)] = "
      "seen(3); }");
  EXPECT_EQ(ran.output, "2\n3\n");
  EXPECT_EQ(ran.error, "2:35: " + outside("2", 2));
}

// ---- Memory ----

constexpr HeapOptions kHeap{.limit = 4096};

std::string made(std::string_view length, std::string_view value) {
  return run_text("fn main() { let n = " + std::string(length) + ";\nlet a = array(n, " + std::string(value) +
                      "); a[n - 1] = a[0]; }",
                  kHeap)
      .error;
}

TEST(ArrayMemory, LengthsHaveBounds) {
  EXPECT_EQ(made("510", "1"), "");
  EXPECT_EQ(made("4080", "true"), "");
  EXPECT_EQ(made("511", "1"), "2:9: array length 511 is outside of 0 to 510");
  EXPECT_EQ(made("4081", "true"), "2:9: array length 4081 is outside of 0 to 4080");
  EXPECT_EQ(made("-1", "1"), "2:9: array length -1 is outside of 0 to 510");
  EXPECT_EQ(made("-9223372036854775808", "true"),
            "2:9: array length -9223372036854775808 is outside of 0 to 4080");
  EXPECT_EQ(made("2305843009213693952", "1"), "2:9: array length 2305843009213693952 is outside of 0 to 510");
  EXPECT_EQ(made("9223372036854775807", "1"), "2:9: array length 9223372036854775807 is outside of 0 to 510");
}

TEST(ArrayMemory, AFullHeapIsAnErrorOfTheProgram) {
  const Ran ran = run_text(
      "fn main() {\n  let all = array(9, array(0, 0)); var n = 0;\n  while true {\n    all[n] =\n      "
      "array(100, n);\n    n = n + 1;\n    print(n);\n  }\n}",
      kHeap);
  EXPECT_EQ(ran.output, "1\n2\n3\n4\n");
  EXPECT_EQ(ran.error, "5:7: out of memory");
}

TEST(ArrayMemory, EmptyArraysFillTheHeapToo) {
  EXPECT_EQ(run_text("record L { a: [int], l: L } fn main() { var l: L = null;\n"
                     "while true { let a = array(0, 1); l = L(a, l); } }",
                     kHeap)
                .error.substr(0, 2),
            "2:");
}

TEST(ArrayMemory, EachRunHasItsOwnHeap) {
  const Source source = source_of("fn main() { let a = array(400, 1); a[7] = 2; }");
  Diagnostics diagnostics;
  const auto executable = compile(source, diagnostics);
  ASSERT_NE(executable, nullptr);
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(run(
                     executable->main(), [](std::string_view) {}, nullptr, kHeap)
                     .error.has_value());
  }
}

}  // namespace
}  // namespace nib::test
