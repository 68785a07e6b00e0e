// When code of another tier is made, and that it goes on where the other one was left.
#include <algorithm>

#include "tests/unit/nib/nib_programs.hpp"

namespace nib::test {
namespace {

constexpr HeapOptions kStressed{.limit = std::size_t{1} << 24, .is_stressed = true};
constexpr Form kFirst{}, kSecond{.tier = Tier::kSecond};

// The forms of `f` after a run.
std::vector<Form> forms(std::string_view text, const CompileOptions& options, const std::string& output) {
  const Source source = source_of(text);
  Diagnostics diagnostics;
  const auto executable = compile(source, diagnostics, options);
  if (executable == nullptr) return {};
  std::string printed;
  EXPECT_FALSE(run(executable->main(), [&](std::string_view line) { printed.append(line); }).error);
  EXPECT_EQ(printed, output);
  return executable->forms_of("f");
}

bool has(const std::vector<Form>& forms, Form::Entry entry, Tier tier) {
  return std::any_of(forms.begin(), forms.end(),
                     [&](const Form& each) { return each.entry == entry && each.tier == tier; });
}

constexpr std::string_view kCalls =
    "fn f(n: int) -> int { return n + 1; }\n"
    "fn main() { print(f(f(f(f(f(f(f(f(f(f(0))))))))))); }";

TEST(Tiers, TheSecondComesAfterSoManyCalls) {
  EXPECT_EQ(forms(kCalls, {.hot = 10}, "10\n"), std::vector{kFirst});
  EXPECT_EQ(forms(kCalls, {.hot = 9}, "10\n"), (std::vector{kFirst, kSecond}));
}

TEST(Tiers, AreForced) {
  EXPECT_EQ(forms(kCalls, {.tiers = Tiers::kFirst, .hot = 1}, "10\n"), std::vector{kFirst});
  EXPECT_EQ(forms(kCalls, {.tiers = Tiers::kSecond}, "10\n"), std::vector{kSecond});
}

TEST(Tiers, LoopsGoOnInTheSecond) {
  const auto found = forms("fn f() { var i = 0; while i < 100 { i = i + 1; } print(i); } fn main() { f(); }",
                           {.hot = 10}, "100\n");
  EXPECT_TRUE(has(found, Form::Entry::kBlock, Tier::kSecond));
  EXPECT_FALSE(has(found, Form::Entry::kWhole, Tier::kSecond));  // nobody calls it again
}

// The else is not compiled before it runs, and then is.
TEST(Tiers, BlocksThatNeverRanGoOnInTheFirst) {
  const std::string text =
      "fn g(n: int) -> int { return n; }\n"  // f is not inlined, since it calls in the place of a return
      "fn f(n: int) -> int { if n < 90 { return g(1); } else { return g(2); } }\n"
      "fn main() { var i = 0; var sum = 0; while i < LAST { sum = sum + f(i); i = i + 1; } print(sum); }";
  const auto run_to = [&](const std::string& last, const std::string& output) {
    return forms(std::string(text).replace(text.find("LAST"), 4, last), {.hot = 10}, output);
  };
  const auto before = run_to("90", "90\n");
  EXPECT_TRUE(has(before, Form::Entry::kWhole, Tier::kSecond));
  EXPECT_FALSE(has(before, Form::Entry::kBlock, Tier::kFirst));
  const auto left = run_to("91", "92\n");
  EXPECT_FALSE(has(left, Form::Entry::kWhole, Tier::kSecond));
  EXPECT_TRUE(has(left, Form::Entry::kBlock, Tier::kFirst));
  const auto hot_again = run_to("120", "150\n");
  EXPECT_TRUE(has(hot_again, Form::Entry::kWhole, Tier::kSecond));
}

// Of each type, while the collector runs: in a loop that changes its code, and back.
TEST(Tiers, VariablesOfEachTypeGoAlong) {
  EXPECT_EQ(
      run_text(
          "record P { x: int, s: str }\n"
          "fn f(n: int, x: float, b: bool, s: str, p: P, a: [float]) -> str {\n"
          "  let c = chan int(2); send(c, n); var i = 0; var text = s;\n"
          "  while i < 20 {\n"
          "    if i == 12 { p.s = p.s + \"!\"; b = not b; }\n"
          "    if i == 13 { x = x * 2.0; send(c, receive(c) + 1); } else { text = text + str(i); }\n"
          "    a[i % 3] = a[i % 3] + x; i = i + 1;\n"
          "  }\n"
          "  return str(receive(c)) + str(x) + str(b) + text + p.s + str(p.x) + str(a[0] + a[1] + a[2]);\n"
          "}\n"
          "fn main() { print(f(1, 1.5, true, \"s\" + \"t\", P(7, \"p\"), array(3, 0.5))); }",
          kStressed)
          .output,
      "23.0falsest0123456789101112141516171819p!742.0\n");
}

TEST(Tiers, FunctionsOfManyVariablesStayInTheFirst) {
  std::string text = "fn f() -> int { var sum = 0;";
  for (int i = 0; i < 70; ++i) text += " let v" + std::to_string(i) + " = sum + 1;";
  text +=
      " while sum < 50 { if sum == 40 { sum = sum + v69; } sum = sum + v0; } return sum; }\n"
      "fn main() { print(f()); }";
  const auto found = forms(text, {.hot = 3}, "50\n");
  EXPECT_EQ(found, std::vector{kFirst});
}

TEST(Inlining, KeepsTheOrderOfWhatIsEvaluated) {
  EXPECT_EQ(run_text("fn say(n: int) -> int { print(n); return n; }\n"
                     "fn f(a: int, b: int) -> int { if a > b { return say(a); } a = a + say(b); return a; }\n"
                     "fn main() { let x = 3; print(f(say(1), say(2)) + f(x, say(1))); print(x); }")
                .output,
            "1\n2\n2\n1\n3\n6\n3\n");
}

TEST(Inlining, OfNestedCallsAndLoops) {
  EXPECT_EQ(
      run_text(
          "fn g(n: int) -> int { var i = 0; while true { if i * i > n { break; } i = i + 1; } return i; }\n"
          "fn f(n: int) -> int { return g(n) + g(n + g(1)); }\n"
          "fn up(n: int) { if n > 5 { return; } print(n); up(n + 1); }\n"
          "fn main() { var i = 0; while i < 5 { i = i + f(i) - f(i) + 1; } print(f(i)); up(4); }")
          .output,
      "6\n4\n5\n");
}

TEST(Inlining, KeepsReferencesKnown) {
  EXPECT_EQ(run_text("record L { next: L, s: str }\n"
                     "fn put(l: L, s: str) -> L { l = L(l, s + s); return l; }\n"
                     "fn first(l: L) -> str { let s = l.s + str(1); return s; }\n"
                     "fn both(a: str, b: str) -> str { return a + b; }\n"
                     "fn main() { let l = put(put(null, \"a\" + \"b\"), \"c\" + \"d\");\n"
                     "  print(both(both(first(l), first(l.next)), both(\"x\" + \"y\", first(put(l, \"e\" + "
                     "\"f\"))))); }",
                     kStressed)
                .output,
            "cdcd1abab1xyefef1\n");
}

TEST(Inlining, ErrorsHaveTheirPlaces) {
  EXPECT_EQ(run_text("fn f(a: [int], i: int) -> int { return a[i] / i; }\n"
                     "fn main() { let a = array(3, 9); print(f(a, 2)); print(f(a, 0)); }")
                .error,
            "1:45: division by zero");
  EXPECT_EQ(
      run_text("fn f(a: [int], i: int) -> int { return a[i] / i; }\nfn main() { print(f(array(3, 9), 3)); }")
          .error,
      "1:41: index 3 is outside of an array of 3");
}

}  // namespace
}  // namespace nib::test
