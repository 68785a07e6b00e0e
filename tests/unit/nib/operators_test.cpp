// Every operator on values at the edges, in each form in which it is compiled differently, against C++.
#include <cstdint>
#include <functional>
#include <limits>
#include <ostream>

#include "tests/unit/nib/nib_programs.hpp"

namespace nib::test {
namespace {

constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

constexpr std::int64_t kEdges[] = {
    0,          1,          -1,        2,    -2,    3,          7,           -7,         8,
    63,         64,         65,        1024, -1024, 2147483647, -2147483648, 2147483648, -2147483649,
    4294967295, 4294967296, 1LL << 40, kMax, kMin,  kMax - 1,   kMin + 1};

std::int64_t wrapped(std::uint64_t bits) {
  return static_cast<std::int64_t>(bits);
}
std::uint64_t bits(std::int64_t number) {
  return static_cast<std::uint64_t>(number);
}

struct Outcome {
  std::int64_t value;
  std::string error;  // of the program; empty: there is a value
};

Outcome overflow() {
  return {0, "integer overflow"};
}
Outcome by_zero() {
  return {0, "division by zero"};
}

struct Operator {
  const char* name;
  const char* text;
  std::function<Outcome(std::int64_t, std::int64_t)> expected;
  bool gives_bool = false;
};

// How ctest shows a case.
void PrintTo(const Operator& shown, std::ostream* out) {
  *out << shown.text;
}

Outcome sum(std::int64_t a, std::int64_t b) {
  std::int64_t value = 0;
  return __builtin_add_overflow(a, b, &value) ? overflow() : Outcome{value, ""};
}
Outcome difference(std::int64_t a, std::int64_t b) {
  std::int64_t value = 0;
  return __builtin_sub_overflow(a, b, &value) ? overflow() : Outcome{value, ""};
}
Outcome product(std::int64_t a, std::int64_t b) {
  std::int64_t value = 0;
  return __builtin_mul_overflow(a, b, &value) ? overflow() : Outcome{value, ""};
}
Outcome quotient(std::int64_t a, std::int64_t b) {
  if (b == 0) return by_zero();
  return b == -1 ? difference(0, a) : Outcome{a / b, ""};
}
Outcome remainder(std::int64_t a, std::int64_t b) {
  if (b == 0) return by_zero();
  return {b == -1 ? 0 : a % b, ""};
}

template <class F>
auto always(F compute) {
  return [compute](std::int64_t a, std::int64_t b) { return Outcome{compute(a, b), ""}; };
}

const Operator kOperators[] = {
    {"Add", "+", sum},
    {"Subtract", "-", difference},
    {"Multiply", "*", product},
    {"Divide", "/", quotient},
    {"Remainder", "%", remainder},
    {"WrappingAdd", "+%", always([](auto a, auto b) { return wrapped(bits(a) + bits(b)); })},
    {"WrappingSubtract", "-%", always([](auto a, auto b) { return wrapped(bits(a) - bits(b)); })},
    {"WrappingMultiply", "*%", always([](auto a, auto b) { return wrapped(bits(a) * bits(b)); })},
    {"BitAnd", "&", always([](auto a, auto b) { return a & b; })},
    {"BitOr", "|", always([](auto a, auto b) { return a | b; })},
    {"BitXor", "^", always([](auto a, auto b) { return a ^ b; })},
    {"ShiftLeft", "<<", always([](auto a, auto b) { return wrapped(bits(a) << (bits(b) % 64)); })},
    {"ShiftRight", ">>", always([](auto a, auto b) { return a >> (bits(b) % 64); })},
    {"Equal", "==", always([](auto a, auto b) { return std::int64_t{a == b}; }), true},
    {"NotEqual", "!=", always([](auto a, auto b) { return std::int64_t{a != b}; }), true},
    {"Less", "<", always([](auto a, auto b) { return std::int64_t{a < b}; }), true},
    {"LessEqual", "<=", always([](auto a, auto b) { return std::int64_t{a <= b}; }), true},
    {"Greater", ">", always([](auto a, auto b) { return std::int64_t{a > b}; }), true},
    {"GreaterEqual", ">=", always([](auto a, auto b) { return std::int64_t{a >= b}; }), true},
};

std::string text_of(const Operator& op, std::int64_t value) {
  if (op.gives_bool) return value != 0 ? "true\n" : "false\n";
  return std::to_string(value) + "\n";
}

class BinaryOperators : public testing::TestWithParam<Operator> {};

// FORM with @ for the operator, A and B for the two literals.
std::string filled(std::string_view form, const Operator& op, std::int64_t a, std::int64_t b) {
  std::string result;
  for (const char c : form) {
    if (c == '@') {
      result += op.text;
    } else if (c == 'A') {
      result += std::to_string(a);
    } else if (c == 'B') {
      result += std::to_string(b);
    } else {
      result += c;
    }
  }
  return result;
}

// A pair that ends the program needs one of its own.
void expect_error(const Operator& op, const std::string& program, const std::string& error) {
  const Ran ran = run_text(program);
  EXPECT_EQ(ran.output, "") << op.text << " in " << program;
  EXPECT_EQ(ran.error.substr(ran.error.find(' ') + 1), error) << program;
}

// FORM, which prints, must print for all pairs what C++ computes.
void expect_all_pairs(const Operator& op, std::string_view helper, std::string_view form) {
  std::string text(filled(helper, op, 0, 0));
  std::string calls;
  std::string expected;
  int count = 0;
  for (const std::int64_t a : kEdges) {
    for (const std::int64_t b : kEdges) {
      const Outcome outcome = op.expected(a, b);
      if (!outcome.error.empty()) {
        expect_error(op, filled(helper, op, 0, 0) + "fn main() {" + filled(form, op, a, b) + "}",
                     outcome.error);
        continue;
      }
      const std::string name = "pair" + std::to_string(count++);
      text += "fn " + name + "() {" + filled(form, op, a, b) + "}\n";
      calls += name + "();\n";
      expected += text_of(op, outcome.value);
    }
  }
  const Ran ran = run_text(text + "fn main() {" + calls + "}");
  EXPECT_EQ(ran.output, expected) << op.text << " as " << form;
  EXPECT_EQ(ran.error, "");
}

std::string result_type(const Operator& op) {
  return op.gives_bool ? "bool" : "int";
}

TEST_P(BinaryOperators, OfTwoVariables) {
  expect_all_pairs(GetParam(), "fn f(a: int, b: int) -> " + result_type(GetParam()) + " { return a @ b; }",
                   "print(f(A, B));");
}

TEST_P(BinaryOperators, WithALiteralOnTheRight) {
  expect_all_pairs(GetParam(), "", "let a = A; print(a @ B);");
}

TEST_P(BinaryOperators, WithALiteralOnTheLeft) {
  expect_all_pairs(GetParam(), "", "let b = B; print(A @ b);");
}

TEST_P(BinaryOperators, OfTwoLiterals) {
  expect_all_pairs(GetParam(), "", "print(A @ B);");
}

TEST_P(BinaryOperators, OfTwoTemporaries) {
  expect_all_pairs(GetParam(), "fn same(n: int) -> int { return n; }",
                   "let a = A; let b = B; print((a ^ 0) @ (same(b) | 0)); ");
}

TEST_P(BinaryOperators, IntoItsOperand) {
  if (GetParam().gives_bool) return;
  expect_all_pairs(GetParam(), "", "var a = A; let b = B; a = a @ b; print(a);");
  expect_all_pairs(GetParam(), "", "let a = A; var b = B; b = a @ b; print(b);");
  expect_all_pairs(GetParam(), "", "var a = A; a = a @ B; print(a);");
  expect_all_pairs(GetParam(), "", "var b = B; b = A @ b; print(b);");
}

TEST_P(BinaryOperators, OfAVariableWithItself) {
  const Operator& op = GetParam();
  for (const std::int64_t a : kEdges) {
    for (const std::string_view form : {"let a = A; print(a @ a);", "var a = A; a = a @ a; print(a);"}) {
      if (op.gives_bool && form.starts_with("var")) continue;
      const Outcome outcome = op.expected(a, a);
      const Ran ran = run_text("fn main() {" + filled(form, op, a, a) + "}");
      EXPECT_EQ(ran.output, outcome.error.empty() ? text_of(op, outcome.value) : "") << a << op.text << a;
      EXPECT_EQ(ran.error.substr(ran.error.find(' ') + 1), outcome.error) << a << op.text << a;
    }
  }
}

TEST_P(BinaryOperators, AsCondition) {
  if (!GetParam().gives_bool) return;
  expect_all_pairs(GetParam(), "", "let a = A; let b = B; if a @ b { print(true); } else { print(false); }");
  expect_all_pairs(GetParam(), "",
                   "let a = A; let b = B; if not (a @ b) { print(false); } else { print(true); }");
  expect_all_pairs(GetParam(), "", "let a = A; if a @ B { print(true); } else { print(false); }");
}

INSTANTIATE_TEST_SUITE_P(All, BinaryOperators, testing::ValuesIn(kOperators),
                         [](const auto& chosen) { return std::string(chosen.param.name); });

TEST(UnaryOperators, NegateAndFlip) {
  EXPECT_EQ(output_of("let a = 5; print(-a); print(~a); print(- -a); print(~~a);"), "-5\n-6\n5\n5\n");
  EXPECT_EQ(output_of("let a = -9223372036854775808; print(0 -% a); print(~a);"),
            "-9223372036854775808\n9223372036854775807\n");
  EXPECT_EQ(output_of("let a = -9223372036854775807; print(-a);"), "9223372036854775807\n");
  EXPECT_EQ(output_of("var a = 5; a = -a; print(a); a = ~a; print(a);"), "-5\n4\n");
  EXPECT_EQ(output_of("let a = true; print(not a); print(not not a); print(not false);"),
            "false\ntrue\ntrue\n");
  EXPECT_EQ(output_of("print(-(3)); print(~0); print(-0x1);"), "-3\n-1\n-1\n");
}

TEST(BoolOperators, EqualityOfBools) {
  EXPECT_EQ(output_of("let t = 1 < 2; let f = 2 < 1; print(t == f); print(t != f); print(t == true);"),
            "false\ntrue\ntrue\n");
}

// Prints its number and gives the value: shows which operands were evaluated, and in which order.
constexpr std::string_view kTrace =
    "fn seen(n: int, value: bool) -> bool { print(n); return value; }\n"
    "fn number(n: int) -> int { print(n); return n; }\n";

std::string traced(std::string_view body) {
  return run_text(std::string(kTrace) + "fn main() {" + std::string(body) + "}").output;
}

TEST(BoolOperators, StopAtTheFirstThatDecides) {
  for (const char* left : {"true", "false"}) {
    for (const char* right : {"true", "false"}) {
      const bool l = *left == 't';
      const bool r = *right == 't';
      const std::string operands = "seen(1, " + std::string(left) + ") @ seen(2, " + right + ")";
      for (const bool is_and : {true, false}) {
        std::string expression = operands;
        expression.replace(expression.find('@'), 1, is_and ? "and" : "or");
        const bool result = is_and ? l && r : l || r;
        const std::string expected =
            std::string(is_and == l ? "1\n2\n" : "1\n") + (result ? "true\n" : "false\n");
        EXPECT_EQ(traced("print(" + expression + ");"), expected);
        EXPECT_EQ(traced("if " + expression + " { print(true); } else { print(false); }"), expected);
        EXPECT_EQ(traced("var x = false; x = " + expression + "; print(x);"), expected);
        EXPECT_EQ(traced("print(not (not (" + expression + ")));"), expected);
      }
    }
  }
}

TEST(BoolOperators, MixedConditions) {
  std::string text =
      "fn f(a: bool, b: bool, c: bool) -> bool { return not (a and not b) or c and (a or b) == c; }\n"
      "fn g(a: bool, b: bool, c: bool) -> bool {\n"
      "  if (a or not b) and not (b and c) or a == c { return true; } return false; }\nfn main() {\n";
  std::string expected;
  for (int i = 0; i < 8; ++i) {
    const bool a = (i & 4) != 0;
    const bool b = (i & 2) != 0;
    const bool c = (i & 1) != 0;
    const std::string arguments =
        std::string(a ? "true" : "false") + (b ? ", true" : ", false") + (c ? ", true" : ", false");
    text += "print(f(" + arguments + ")); print(g(" + arguments + "));\n";
    expected += (!(a && !b) || (c && (a || b) == c)) ? "true\n" : "false\n";
    expected += ((a || !b) && !(b && c)) || a == c ? "true\n" : "false\n";
  }
  EXPECT_EQ(run_text(text + "}").output, expected);
}

TEST(Evaluation, GoesFromLeftToRight) {
  EXPECT_EQ(traced("print(number(1) - number(2) * number(3));"), "1\n2\n3\n-5\n");
  EXPECT_EQ(traced("if number(1) < number(2) and number(3) > number(4) {} else { print(5); }"),
            "1\n2\n3\n4\n5\n");
}

TEST(Evaluation, TemporariesSurviveCalls) {
  EXPECT_EQ(traced("let a = 10; print((a + 1) * (number(2) + (a - number(3)) * number(4)));"),
            "2\n3\n4\n" + std::to_string(11 * (2 + 7 * 4)) + "\n");
}

}  // namespace
}  // namespace nib::test
