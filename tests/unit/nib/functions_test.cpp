#include <thread>

#include "tests/unit/nib/nib_programs.hpp"

namespace nib::test {
namespace {

TEST(Functions, RecursionReturnsThroughEachLevel) {
  EXPECT_EQ(run_text("fn fact(n: int) -> int { if n <= 1 { return 1; } return n * fact(n - 1); }\n"
                     "fn fib(n: int) -> int { if n < 2 { return n; } return fib(n - 1) + fib(n - 2); }\n"
                     "fn main() { print(fact(20)); print(fib(20)); }")
                .output,
            "2432902008176640000\n6765\n");
}

TEST(Functions, MutualRecursionNeedsNoDeclaration) {
  EXPECT_EQ(run_text("fn main() { print(even(100)); print(even(7)); }\n"
                     "fn even(n: int) -> bool { if n == 0 { return true; } return odd(n - 1); }\n"
                     "fn odd(n: int) -> bool { if n == 0 { return false; } return even(n - 1); }\n")
                .output,
            "true\nfalse\n");
}

// With as much stack for each call, a thousandth of them would not fit.
TEST(Functions, ReturnedCallsNeedNoStack) {
  EXPECT_EQ(
      run_text("fn main() { print(even(1000001)); print(sum(1000000, 0)); print(turn(1, 2, 3, 4, 5, 6)); }\n"
               "fn even(n: int) -> bool { if n == 0 { return true; } return odd(n - 1); }\n"
               "fn odd(n: int) -> bool { if n == 0 { return false; } return even(n - 1); }\n"
               "fn sum(n: int, to: int) -> int { if n == 0 { return to; } return sum(n - 1, to + n); }\n"
               "fn turn(a: int, b: int, c: int, d: int, e: int, f: int) -> int {\n"
               "  if a > 1000000 { return a + b; } return turn(b + 6, c, d, e, f, a); }")
          .output,
      "false\n500000500000\n1999997\n");
}

// The seventh argument is on the stack: the call stays one.
TEST(Functions, ReturnedCallsWithStackArgumentsAreRight) {
  EXPECT_EQ(run_text("fn turn(a: int, b: int, c: int, d: int, e: int, f: int, g: int, n: int) -> int {\n"
                     "  if n == 0 { return a * 10 + g; } return turn(b, c, d, e, f, g, a, n - 1); }\n"
                     "fn main() { print(turn(1, 2, 3, 4, 5, 6, 7, 1000)); }")
                .output,
            "76\n");
}

TEST(Functions, AckermannNestsCallsInArguments) {
  EXPECT_EQ(run_text("fn a(m: int, n: int) -> int { if m == 0 { return n + 1; }\n"
                     "  if n == 0 { return a(m - 1, 1); } return a(m - 1, a(m, n - 1)); }\n"
                     "fn main() { print(a(2, 9)); print(a(3, 4)); }")
                .output,
            "21\n125\n");
}

// Six arguments fit in registers, the others go by the stack.
TEST(Functions, AnyNumberOfArgumentsUpToTheLimit) {
  for (std::size_t count = 0; count <= kMaxParameters; ++count) {
    std::string parameters, sum = "0", variables, literals, values;
    std::int64_t expected = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::string comma = i == 0 ? "" : ", ";
      const std::string number = std::to_string(i);
      const auto value = (std::int64_t{1} << (3 * i)) * (i % 2 == 0 ? 1 : -1);
      parameters += comma + "p" + number + ": int";
      sum += " + p" + number + " * " + std::to_string(i + 1);
      values += "let v" + number + " = " + std::to_string(value) + ";";
      variables += comma + "v" + number;
      literals += comma + std::to_string(value);
      expected += value * static_cast<std::int64_t>(i + 1);
    }
    const std::string line = std::to_string(expected) + "\n";
    EXPECT_EQ(run_text("fn f(" + parameters + ") -> int { return " + sum + "; }\nfn main() {" + values +
                       "print(f(" + variables + ")); print(f(" + literals + "));}")
                  .output,
              line + line)
        << count;
  }
}

TEST(Functions, LargeLiteralsGoByTheStackWhole) {
  EXPECT_EQ(
      run_text(
          "fn f(a: int, b: int, c: int, d: int, e: int, f: int, g: int, h: int) { print(g); print(h); }\n"
          "fn main() { f(1, 2, 3, 4, 5, 6, 0x123456789abcdef0, -9223372036854775808); }")
          .output,
      "1311768467463790320\n-9223372036854775808\n");
}

TEST(Functions, OneVariableMayBeSeveralArguments) {
  EXPECT_EQ(
      run_text("fn f(a: int, b: int, c: int, d: int, e: int, f: int, g: int, h: int) -> int {\n"
               "  return a + 2 * b + 4 * c + 8 * d + 16 * e + 32 * f + 64 * g + 128 * h; }\n"
               "fn main() { let x = 3; let y = 5; print(f(x, y, x, x, y, x, y, y)); print(x); print(y); }")
          .output,
      std::to_string(3 + 10 + 12 + 24 + 80 + 96 + 320 + 640) + "\n3\n5\n");
}

TEST(Functions, ArgumentsMaySwapPlaces) {
  EXPECT_EQ(run_text("fn f(n: int, a: int, b: int, c: int) -> int {\n"
                     "  if n == 0 { return a * 100 + b * 10 + c; } return f(n - 1, c, a, b); }\n"
                     "fn main() { print(f(0, 1, 2, 3)); print(f(1, 1, 2, 3)); print(f(2, 1, 2, 3)); }")
                .output,
            "123\n312\n231\n");
}

TEST(Functions, ArgumentsAreCopies) {
  EXPECT_EQ(run_text("fn f(a: int) { a = a + 1; print(a); }\nfn main() { var a = 1; f(a); f(a); print(a); }")
                .output,
            "2\n2\n1\n");
}

TEST(Functions, UnusedParametersAndResultsAreFine) {
  EXPECT_EQ(run_text("fn f(a: int, b: bool) -> int { return 7; }\nfn g(a: int) {}\n"
                     "fn main() { f(1, true); g(f(2, false)); print(f(3, true)); }")
                .output,
            "7\n");
}

TEST(Functions, BoolsPassAsArgumentsAndResults) {
  EXPECT_EQ(run_text("fn x(a: bool, b: bool) -> bool { return a != b; }\n"
                     "fn main() { print(x(true, false)); print(x(1 < 2, not false)); if x(false, 2 == 2) { "
                     "print(1); } }")
                .output,
            "true\nfalse\n1\n");
}

TEST(Functions, OneExecutableRunsOnSeveralThreads) {
  const Source source = source_of(
      "fn fib(n: int) -> int { if n < 2 { return n; } return fib(n - 1) + fib(n - 2); }\n"
      "fn main() { print(fib(20)); }");
  Diagnostics diagnostics;
  const auto executable = compile(source, diagnostics);
  ASSERT_NE(executable, nullptr);
  std::string outputs[4];
  std::vector<std::thread> threads;
  for (std::string& output : outputs) {
    threads.emplace_back([&] {
      for (int i = 0; i < 10; ++i) {
        run(executable->main(), [&output](std::string_view line) { output.append(line); });
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& output : outputs) EXPECT_EQ(output.size(), 50u);
}

}  // namespace
}  // namespace nib::test
