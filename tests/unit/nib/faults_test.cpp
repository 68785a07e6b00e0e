// Errors of running programs: where they are reported, and that the process goes on.
#include <pthread.h>

#include <functional>

#include "tests/unit/nib/nib_programs.hpp"

namespace nib::test {
namespace {

TEST(Faults, DivisionByZeroNamesTheOperator) {
  const Ran ran = run_text(
      "fn f(a: int, b: int) -> int {\n  return a\n    / b;\n}\nfn main() { print(1); print(f(1, 0)); "
      "print(2); }");
  EXPECT_EQ(ran.output, "1\n");
  EXPECT_EQ(ran.error, "3:5: division by zero");
}

TEST(Faults, EveryFormOfDivisionIsChecked) {
  for (const std::string_view form :
       {"a / b", "a % b", "a / 0", "a % 0", "1 / b", "1 % b", "0 / 0", "0 % b", "b / b"}) {
    const Ran ran = run_text("fn main() { let a = 7; let b = 0; print(" + std::string(form) + "); }");
    EXPECT_EQ(ran.output, "") << form;
    EXPECT_EQ(ran.error, "1:43: division by zero") << form;
  }
}

TEST(Faults, TheSecondDivisionHasItsOwnPlace) {
  const std::string text =
      "fn f(a: int, b: int) -> int { return 10 / a + 10 % b; }\nfn main() { print(f(2, 3)); print(f(@)); }";
  std::string first = text;
  first.replace(first.find('@'), 1, "0, 1");
  std::string second = text;
  second.replace(second.find('@'), 1, "1, 0");
  EXPECT_EQ(run_text(first).error, "1:41: division by zero");
  EXPECT_EQ(run_text(second).error, "1:50: division by zero");
  EXPECT_EQ(run_text(second).output, "6\n");
}

TEST(Faults, OverflowNamesTheOperator) {
  const Ran ran = run_text(
      "fn f(a: int, b: int) -> int {\n  return a\n    + b;\n}\n"
      "fn main() { print(f(9223372036854775806, 1)); print(f(9223372036854775807, 1)); print(2); }");
  EXPECT_EQ(ran.output, "9223372036854775807\n");
  EXPECT_EQ(ran.error, "3:5: integer overflow");
}

// `a` is the largest int, `b` the smallest.
TEST(Faults, EveryOperatorOverflowsAtItsOwnPlace) {
  struct Form {
    std::string_view text;
    int column;  // of the operator
  };
  for (const auto& [form, column] :
       {Form{"a + 1", 3}, Form{"1 + a", 3}, Form{"b - 1", 3}, Form{"-2 - a", 4}, Form{"-b", 1},
        Form{"1 - -b", 5}, Form{"b * -1", 3}, Form{"-1 * b", 4}, Form{"a * 2", 3}, Form{"b / -1", 3},
        Form{"b / (b - (b + 1))", 3}, Form{"a +% 1 - 1", 8}, Form{"f(a + 1)", 5}, Form{"a * a", 3},
        Form{"(a - 1) + (b + a) + 3", 19}, Form{"9223372036854775807 + 1", 21}}) {
    const Ran ran = run_text(
        "fn f(n: int) -> int { return n; }\n"
        "fn main() { let a = 9223372036854775807; let b = -9223372036854775808; print(1);\nprint(" +
        std::string(form) + "); }");
    EXPECT_EQ(ran.output, "1\n") << form;
    EXPECT_EQ(ran.error, "3:" + std::to_string(6 + column) + ": integer overflow") << form;
  }
}

TEST(Faults, OverflowOfACounterEndsItsLoop) {
  const Ran ran = run_text(
      "fn main() {\n  var n = 9223372036854775800;\n  while true {\n    n = n + 1;\n    print(n);\n  }\n}");
  EXPECT_TRUE(ran.output.ends_with("\n9223372036854775807\n"));
  EXPECT_EQ(ran.error, "4:11: integer overflow");
}

TEST(Faults, WrappingOperatorsAndRemaindersHaveNoOverflow) {
  EXPECT_EQ(output_of("let a = 9223372036854775807; let b = -9223372036854775808; let m = -1;\n"
                      "print(a +% 1); print(b -% 1); print(0 -% b); print(b *% m); print(a *% 2);\n"
                      "print(b % m); print(b % -1); print(a % m);"),
            "-9223372036854775808\n9223372036854775807\n-9223372036854775808\n-9223372036854775808\n-2\n"
            "0\n0\n0\n");
}

TEST(Faults, AProgramCanFailWithItsOwnText) {
  const Ran ran = run_text(
      "fn f(n: int) -> int {\n  if n > 1 { return n; }\n  fail(\"n is too small\");\n}\n"
      "fn main() { print(f(2)); print(f(1)); print(f(3)); }");
  EXPECT_EQ(ran.output, "2\n");
  EXPECT_EQ(ran.error, "3:3: n is too small");
}

TEST(Faults, FailTakesOneText) {
  for (const std::string_view wrong :
       {"fail();", "fail(1);", "fail(x);", "fail \"a\";", "fail(\"a\" \"b\");"})
    EXPECT_EQ(errors_of("fn main() {" + std::string(wrong) + "}").size(), 1u) << wrong;
}

TEST(Faults, UnboundedRecursionEndsWithTheFunctionsName) {
  const Ran ran = run_text(
      "fn main() {\n  print(1);\n  print(down(1));\n}\nfn down(n: int) -> int {\n  return down(n + 1) + "
      "n;\n}");
  EXPECT_EQ(ran.output, "1\n");
  EXPECT_EQ(ran.error, "5:4: stack overflow in function 'down'");
}

TEST(Faults, MutualRecursionAndLargeFramesAreCaughtToo) {
  std::string locals, sum = "0";
  for (int i = 0; i < 500; ++i) {
    locals += "let v" + std::to_string(i) + " = n + " + std::to_string(i) + ";";
    sum += "+ v" + std::to_string(i);
  }
  const Ran ran = run_text(
      "fn main() { print(a(1)); }\nfn a(n: int) -> int { return b(n + 1) + 1; }\nfn b(n: int) -> int {" +
      locals + "return a(n) + " + sum + "; }");
  EXPECT_EQ(ran.output, "");
  EXPECT_NE(ran.error.find(": stack overflow in function '"), std::string::npos) << ran.error;
}

TEST(Faults, RecursionMayBeDeep) {
  EXPECT_EQ(run_text("fn down(n: int) -> int { if n == 0 { return 0; } return down(n - 1) + 1; }\n"
                     "fn main() { print(down(100000)); }")
                .output,
            "100000\n");
}

TEST(Faults, ARunAfterAFaultIsSound) {
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(run_text("fn f() -> int { return f() + 1; } fn main() { print(f()); }").error,
              "1:4: stack overflow in function 'f'");
    EXPECT_EQ(run_text("fn main() { let z = 0; print(1 % z); }").error, "1:32: division by zero");
    EXPECT_EQ(output_of("print(1);"), "1\n");
  }
}

// The limit is that of the thread which runs.
TEST(Faults, ASmallThreadHasItsOwnLimit) {
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  // Half of what threads have by default: ThreadSanitizer takes nearly 1 MiB of it.
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, 4096 * 1024), 0);
  std::string error;
  pthread_t thread{};
  const auto body = [](void* place) -> void* {
    *static_cast<std::string*>(place) =
        run_text("fn f() -> int { return f() + 1; } fn main() { print(f()); }").error;
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, body, &error), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  EXPECT_EQ(error, "1:4: stack overflow in function 'f'");
}

TEST(Faults, StampsEncloseTheRun) {
  const Source source = source_of("fn main() { var i = 0; while i < 1000000 { i = i + 1; } }");
  Diagnostics diagnostics;
  const auto executable = compile(source, diagnostics);
  ASSERT_NE(executable, nullptr);
  const RunResult result = run(executable->main(), [](std::string_view) {});
  EXPECT_GT(result.start_ns, 0u);
  // A million rounds take longer than 10 us on any machine.
  EXPECT_GT(result.end_ns, result.start_ns + 10'000);
}

}  // namespace
}  // namespace nib::test
