// Floats, strs and records of running programs.
#include "tests/unit/nib/nib_programs.hpp"

namespace nib::test {
namespace {

// ---- Floats ----

TEST(Floats, ArithmeticIsThatOfTheHardware) {
  EXPECT_EQ(output_of("let x = 0.1; let y = 0.2; print(x + y); print(x - y); print(x * y); print(x / y);\n"
                      "print(-x); print(0.0 - 0.0); print(-(0.0)); print(2.0 * 3.0 - 1.0 / 4.0);"),
            "0.30000000000000004\n-0.1\n0.020000000000000004\n0.5\n-0.1\n0.0\n-0.0\n5.75\n");
  EXPECT_EQ(output_of("let z = 0.0; print(1.0 / z); print(-1.0 / z); print(1e300 * 1e10); print(5e-324);"),
            "inf\n-inf\ninf\n5e-324\n");
}

TEST(Floats, VariablesMayBeTheirOwnOperands) {
  EXPECT_EQ(
      output_of("var x = 3.0; var y = 2.0; x = y - x; print(x); x = -x; print(x); x = x * x; print(x);\n"
                "y = 10.0 / y; print(y); y = sqrt(y + 4.0); print(y); x = x + y; print(x); print(y);"),
      "-1.0\n1.0\n1.0\n5.0\n3.0\n4.0\n3.0\n");
}

TEST(Floats, NanIsLikeNothing) {
  const std::string_view orders[] = {"<", "<=", ">", ">=", "==", "!="};
  for (const std::string_view op : orders) {
    const std::string compared = "nan " + std::string(op) + " one";
    const std::string expected = op == "!=" ? "true\n1\n0\n" : "false\n0\n1\n";
    EXPECT_EQ(output_of("let one = 1.0; let nan = sqrt(-one); let b = " + compared + "; print(b);\nif " +
                        compared + " { print(1); } else { print(0); }\nif not (" + compared +
                        ") { print(1); } else { print(0); }"),
              expected)
        << op;
  }
  EXPECT_EQ(output_of("let nan = sqrt(-1.0); print(nan == nan); print(nan != nan); print(not (nan == nan));"),
            "false\ntrue\ntrue\n");
}

TEST(Floats, OrdersAreRightBothWays) {
  EXPECT_EQ(
      output_of(
          "let a = 1.5; let b = 2.5; print(a < b); print(b < a); print(a <= a); print(a > b); print(b > a);\n"
          "print(b >= a); print(a >= b); print(a == a); print(a == b); print(a != b); print(-0.0 == 0.0);\n"
          "if a < b and 2.0 > a or a == b { print(1); } while a > b { print(2); }"),
      "true\nfalse\ntrue\nfalse\ntrue\ntrue\nfalse\ntrue\nfalse\ntrue\ntrue\n1\n");
}

TEST(Floats, ConversionsRoundTowardZeroAndFailWithoutAnInt) {
  EXPECT_EQ(
      output_of(
          "print(int(2.9)); print(int(-2.9)); print(float(7) / 2.0); print(float(-9223372036854775808));\n"
          "print(int(-9223372036854775808.0)); print(int(9223372036854774784.0));"),
      "2\n-2\n3.5\n-9223372036854775808.0\n-9223372036854775808\n9223372036854774784\n");
  for (const std::string_view none :
       {"9223372036854775808.0", "-9223372036854777856.0", "1e300", "sqrt(-1.0)"}) {
    EXPECT_EQ(run_text("fn main() { print(\nint(" + std::string(none) + ")); }").error,
              "2:1: this float has no int")
        << none;
  }
}

TEST(Floats, ArePassedReturnedAndStored) {
  EXPECT_EQ(
      run_text("fn f(a: float, n: int, b: float, s: str) -> float { return a * float(n) + b; }\n"
               "fn g(a: float) -> float { return f(a, 2, 0.5, \"\"); }\n"
               "fn main() { let x = 1.5; print(f(x, 3, x, \"\") + g(x)); let a = array(3, x); a[1] = 2.0;\n"
               "  a[2] = a[0] + a[1]; print(a[0]); print(a[1]); print(a[2]); print(f(1.0, 1, a[2], \"\")); }")
          .output,
      "9.5\n1.5\n2.0\n3.5\n4.5\n");
}

TEST(Floats, ManyLiveOnesSurviveCalls) {
  std::string text = "fn same(x: float) -> float { return x; }\nfn main() {\n";
  std::string sum = "0.0";
  for (int i = 1; i <= 40; ++i) {
    const std::string name = "x" + std::to_string(i);
    text += "var " + name + " = same(" + std::to_string(i) + ".5);\n";
    sum += " + " + name;
  }
  EXPECT_EQ(run_text(text + "print(" + sum + ");\n}").output, "840.0\n");
  EXPECT_EQ(
      run_text(
          text +
          "print(-x7); print(int(x8)); print(sqrt(x2 * 10.0)); print(array(1, x9)[0]); print(x3 < x4);\n" +
          "let s = " + sum + "; print(x11 * -x12); print(fixed(x13, 2)); x1 = -x1; print(x1 == -1.5); }")
          .output,
      "-7.5\n8\n5.0\n9.5\ntrue\n-143.75\n13.50\ntrue\n");
}

// ---- Strs ----

TEST(Strs, AreBytes) {
  EXPECT_EQ(output_of("let s = \"abc\"; print(s); print(len(s)); print(s[0]); print(s[2]); print(len(\"\")); "
                      "print(\"\");"),
            "abc\n3\n97\n99\n0\n\n");
  EXPECT_EQ(output_of("print(chr(72) + chr(105)); print(chr(255)[0]); print(len(chr(0) + chr(0)));"),
            "Hi\n255\n2\n");
}

TEST(Strs, AreConcatenatedAndCut) {
  EXPECT_EQ(
      output_of("var s = \"\"; var i = 0; while i < 5 { s = s + str(i) + \",\"; i = i + 1; } print(s);\n"
                "print(slice(s, 2, 5)); print(len(slice(s, 4, 4))); print(slice(s, 0, len(s)) == s);"),
      "0,1,2,3,4,\n1,2\n0\ntrue\n");
}

TEST(Strs, OfOtherTypes) {
  EXPECT_EQ(
      output_of(
          "print(str(-9223372036854775808) + str(true) + str(1.5) + str(2.0) + str(\"s\") + str(1e100));\n"
          "print(fixed(1.0 / 3.0, 4) + \" \" + fixed(-2.5, 0) + \" \" + fixed(1e15, 2));"),
      "-9223372036854775808true1.52.0s1e+100\n0.3333 -2 1000000000000000.00\n");
}

TEST(Strs, AreComparedByTheirBytes) {
  EXPECT_EQ(output_of("let a = \"ab\"; let b = \"a\" + \"b\"; print(a == b); print(a != b); print(a < "
                      "\"abc\"); print(\"b\" > a);\n"
                      "print(chr(200) > a); print(\"\" <= \"\"); if a >= b { print(1); }"),
            "true\nfalse\ntrue\ntrue\ntrue\ntrue\n1\n");
}

TEST(Strs, HaveBounds) {
  const auto error_of = [](std::string_view expression) {
    return run_text("fn main() { let s = \"abc\";\nprint(" + std::string(expression) + "); }").error;
  };
  EXPECT_EQ(error_of("s[3]"), "2:8: index 3 is outside of a str of 3");
  EXPECT_EQ(error_of("s[-1]"), "2:8: index -1 is outside of a str of 3");
  EXPECT_EQ(error_of("slice(s, 1, 4)"), "2:7: there is no slice from 1 to 4");
  EXPECT_EQ(error_of("slice(s, 2, 1)"), "2:7: there is no slice from 2 to 1");
  EXPECT_EQ(error_of("slice(s, -1, 1)"), "2:7: there is no slice from -1 to 1");
  EXPECT_EQ(error_of("chr(256)"), "2:7: 256 is no byte");
  EXPECT_EQ(error_of("chr(-1)"), "2:7: -1 is no byte");
  EXPECT_EQ(error_of("fixed(1.0, 41)"), "2:7: 41 digits are outside of 0 to 40");
}

// ---- Records ----

constexpr std::string_view kNode =
    "record Node { value: int, weight: float, live: bool, name: str, next: Node }\n";

TEST(Records, KeepTheirFields) {
  EXPECT_EQ(
      run_text(
          std::string(kNode) +
          "fn main() { let a = Node(1, 2.5, true, \"a\", null); let b = Node(-7, 0.0, false, \"b\", a);\n"
          "  print(a.value); print(a.weight); print(a.live); print(a.name); print(a.next == null);\n"
          "  print(b.value); print(b.weight); print(b.live); print(b.next.name); print(b.next == a);\n"
          "  b.next.value = 9; a.weight = -1.5; b.next.live = false; a.name = b.name; a.next = b;\n"
          "  print(a.value + 1); print(a.weight); print(a.live); print(b.next.next.next.name); }")
          .output,
      "1\n2.5\ntrue\na\ntrue\n-7\n0.0\nfalse\na\ntrue\n10\n-1.5\nfalse\nb\n");
}

TEST(Records, MakeListsAndTrees) {
  EXPECT_EQ(
      run_text(
          "record T { left: T, right: T }\n"
          "fn grow(n: int) -> T { if n == 0 { return T(null, null); } return T(grow(n - 1), grow(n - 1)); }\n"
          "fn size(t: T) -> int { if t == null { return 0; } return 1 + size(t.left) + size(t.right); }\n"
          "fn main() { print(size(grow(10))); let all = array(3, grow(1)); all[1] = null; "
          "print(size(all[1])); \n"
          "  all[0].left = null; print(size(all[2])); }")
          .output,
      "2047\n0\n2\n");
}

TEST(Records, NullHasNoFields) {
  const std::string text =
      std::string(kNode) + "fn f(n: Node) -> int {\n  return n.value\n    + n.next.value;\n}\n";
  EXPECT_EQ(run_text(text + "fn main() { print(f(null)); }").error, "3:11: null has no field 'value'");
  EXPECT_EQ(run_text(text + "fn main() { print(f(Node(1, 0.0, true, \"\", null))); }").error,
            "4:13: null has no field 'value'");
  EXPECT_EQ(
      run_text(text + "fn g() -> Node { return null; }\nfn main() { let n = g();\nn.name = \"a\"; }").error,
      "8:2: null has no field 'name'");
}

TEST(Records, FieldsAreEvaluatedFromLeftToRight) {
  EXPECT_EQ(run_text("record P { a: int, b: int }\nfn seen(n: int) -> int { print(n); return n; }\n"
                     "fn main() { let p = P(seen(1), seen(2)); p.a = seen(3); print(p.a - p.b); }")
                .output,
            "1\n2\n3\n1\n");
}

TEST(Records, FillTheHeap) {
  EXPECT_EQ(
      run_text("record L { next: L, n: int }\nfn main() { var l: L = null; while true {\n  l = L(l, 1); } }",
               {.limit = 4096})
          .error,
      "3:7: out of memory");
}

}  // namespace
}  // namespace nib::test
