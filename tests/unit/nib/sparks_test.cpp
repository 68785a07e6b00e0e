// `par`: what it gives, whoever runs it, and that nothing waits for what nobody asks for.
#include "tests/unit/nib/nib_programs.hpp"

namespace nib::test {
namespace {

constexpr HeapOptions kStressed{.limit = std::size_t{1} << 24, .is_stressed = true};

TEST(Sparks, GiveTheirResults) {
  EXPECT_EQ(
      run_text(
          "fn f(a: int, x: float, s: str, b: bool) -> float {\n"
          "  if b { return float(a) + x + float(len(s)); } return 0.0; }\n"
          "fn g(s: str) -> str { return s + s; }\nfn h() { print(7); }\n"
          "fn main() { let t = par f(1, 2.5, \"abc\", true); let u: task str = par g(\"x\" + \"y\");\n"
          "  print(join(t)); print(join(u)); print(join(t)); let v: task = par h(); join(v); print(8); }")
          .output,
      "6.5\nxyxy\n6.5\n7\n8\n");
}

constexpr std::string_view kTree =
    "fn sum(a: [str], from: int, to: int) -> int { if to - from == 1 { return len(a[from] + \"!\"); }\n"
    "  let middle = (from + to) / 2; let left = par sum(a, from, middle); let right = par sum(a, middle, "
    "to);\n"
    "  let third = join(left); return third + join(right); }\n"
    "fn main() { let a = array(200, \"\"); var i = 0; while i < 200 { a[i] = str(i); i = i + 1; }\n"
    "  i = 0; while i < 5 { print(sum(a, 0, 200)); i = i + 1; } }";

TEST(Sparks, DivideWork) {
  for (const HeapOptions& heap : {HeapOptions{}, kStressed})
    EXPECT_EQ(run_text(kTree, heap).output, "690\n690\n690\n690\n690\n");
}

TEST(Sparks, ThatNobodyJoinsHoldNothingUp) {
  // More than there is room for, and the collector drops what is left.
  for (const HeapOptions& heap : {HeapOptions{.limit = std::size_t{1} << 20}, HeapOptions{}})
    EXPECT_EQ(run_text("fn f(s: str) -> str { return s + \"!\"; }\nfn main() { var i = 0; while i < 20000 {\n"
                       "  let t = par f(str(i)); if i == 19999 { print(join(t)); } i = i + 1; } }",
                       heap)
                  .output,
              "19999!\n");
}

TEST(Sparks, OutliveTheThreadThatMadeThem) {
  EXPECT_EQ(
      run_text("fn f(s: str) -> str { return s + \"!\"; }\n"
               "fn g(c: chan task str) { var i = 0; while i < 9 { send(c, par f(str(i))); i = i + 1; } }\n"
               "fn main() { let c = chan task str(9); join(spawn g(c)); var i = 0; var all = \"\";\n"
               "  while i < 9 { all = all + join(receive(c)); i = i + 1; } print(all); }",
               kStressed)
          .output,
      "0!1!2!3!4!5!6!7!8!\n");
}

TEST(Sparks, MaySpawn) {
  EXPECT_EQ(run_text("fn f(n: int) -> int { return n; }\nfn g(n: int) -> int { return join(spawn f(n)); }\n"
                     "fn main() { let t = par g(1); let u = par g(2); print(join(t) + join(u)); }")
                .output,
            "3\n");
}

TEST(Sparks, FailWhereTheyAre) {
  const Ran ran = run_text(
      "fn f(z: int) -> int { return 1 / z; }\nfn g() { while true {} }\n"
      "fn main() { spawn g(); let t = par f(0); print(join(t)); }");
  EXPECT_EQ(ran.error, "1:32: division by zero");
  EXPECT_EQ(ran.output, "");
}

TEST(Sparks, WorkersThatWaitForThemAreNoDeadlock) {
  EXPECT_EQ(run_text("fn f() {}\nfn main() { join(par f());\nreceive(chan int(1)); }").error,
            "3:1: all threads wait for each other");
}

TEST(Sparks, InsideOfEachOtherNeedAStack) {
  const Ran ran = run_text(
      "fn f(n: int) -> int { let t = par f(n + 1); return join(t) + 1; }\n"
      "fn main() { print(join(par f(0))); }");
  EXPECT_NE(ran.error.find(": stack overflow in function 'f'"), std::string::npos) << ran.error;
}

TEST(Sparks, AreCallsOfFunctions) {
  EXPECT_EQ(errors_of("record P { x: int } fn main() { let t = par P(1); }"),
            std::vector<std::string>{"1:41: 'par' needs a call of a function"});
  EXPECT_EQ(errors_of("fn f() {} fn main() { par f(); }"),
            std::vector<std::string>{"1:23: expected a statement, found 'par'"});
}

}  // namespace
}  // namespace nib::test
