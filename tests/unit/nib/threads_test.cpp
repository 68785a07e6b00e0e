// Threads of a program: what they compute, how they end, and that the collector finds what they use.
#include <chrono>
#include <thread>

#include "tests/unit/nib/nib_programs.hpp"

namespace nib::test {
namespace {

constexpr HeapOptions kStressed{.limit = std::size_t{1} << 24, .is_stressed = true};

TEST(Threads, GiveTheirResultsOnce) {
  EXPECT_EQ(
      run_text(
          "fn f(a: int, x: float, s: str, b: bool) -> float {\n"
          "  if b { return float(a) + x + float(len(s)); } return 0.0; }\n"
          "fn g(s: str) -> str { return s + s; }\nfn h() { print(7); }\n"
          "fn main() { let t = spawn f(1, 2.5, \"abc\", true); let u: task str = spawn g(\"x\" + \"y\");\n"
          "  print(join(t)); print(join(u)); print(join(t)); let v: task = spawn h(); join(v); print(8); }")
          .output,
      "6.5\nxyxy\n6.5\n7\n8\n");
}

TEST(Threads, ArePartOfTheRunUntilTheyEnd) {
  EXPECT_EQ(run_text("fn f(n: int) { var i = 0; while i < n { i = i + 1; } print(i); }\n"
                     "fn main() { spawn f(1000000); }")
                .output,
            "1000000\n");
}

TEST(Threads, PassValuesThroughChannelsInOrder) {
  EXPECT_EQ(
      run_text(
          "fn f(c: chan int, n: int) { var i = 0; while i < n { send(c, i); i = i + 1; } send(c, -1); }\n"
          "fn main() { let c = chan int(3); spawn f(c, 1000); var sum = 0; var last = -1; var wrong = 0;\n"
          "  while true { let n = receive(c); if n < 0 { break; } if n != last + 1 { wrong = wrong + 1; }\n"
          "    last = n; sum = sum + n; } print(sum); print(wrong); }")
          .output,
      "499500\n0\n");
}

TEST(Threads, ChannelsHoldEveryType) {
  EXPECT_EQ(
      run_text("record P { x: int } fn main() { let a = chan float(2); send(a, 1.5); send(a, -2.0); "
               "print(receive(a) + \n"
               "receive(a)); let b = chan bool(1); send(b, true); print(receive(b)); let c = chan P(1); "
               "send(c, null);\n"
               "print(receive(c) == null); send(c, P(4)); print(receive(c).x); let d = chan chan int(1);\n"
               "let e = chan int(1); send(d, e); send(e, 9); print(receive(receive(d))); }")
          .output,
      "-0.5\ntrue\ntrue\n4\n9\n");
}

TEST(Threads, ManyAtOnce) {
  EXPECT_EQ(
      run_text(
          "fn f(n: int) -> int { return n * n; }\nfn main() { var round = 0; var sum = 0; while round < 20 "
          "{\n"
          "  let all = array(10, spawn f(0)); var i = 1; while i < 10 { all[i] = spawn f(i); i = i + 1; }\n"
          "  i = 0; while i < 10 { sum = sum + join(all[i]); i = i + 1; } round = round + 1; } print(sum); }")
          .output,
      "5700\n");
}

constexpr std::string_view kLists =
    "record L { next: L, text: str }\n"
    "fn make(n: int, text: str) -> L { var l: L = null; var i = 0;\n"
    "  while i < n { l = L(l, text + str(i)); i = i + 1; } return l; }\n"
    "fn size(l: L) -> int { var n = 0; while l != null { n = n + len(l.text); l = l.next; } return n; }\n"
    "fn work(n: int, text: str) -> int { var sum = 0; var i = 0;\n"
    "  while i < n { sum = sum + size(make(20, text + \"-\")); i = i + 1; } return sum; }\n";

// Each of four threads allocates, so that each collects while the others are somewhere in their loops.
TEST(Threads, AllocateTogether) {
  for (const HeapOptions& heap : {HeapOptions{.limit = std::size_t{1} << 20}, kStressed}) {
    const std::string rounds = heap.is_stressed ? "10" : "1000";
    EXPECT_EQ(
        run_text(std::string(kLists) + "fn main() { let a = spawn work(" + rounds +
                     ", \"a\"); let b = spawn work(" + rounds + ", \"b\");\n  let c = spawn work(" + rounds +
                     ", \"c\"); print(work(" + rounds + ", \"d\"));\n  print(join(a) + join(b) + join(c)); }",
                 heap)
            .output,
        heap.is_stressed ? "700\n2100\n" : "70000\n210000\n");
  }
}

// A thread that computes without allocating does not hold up one that collects.
TEST(Threads, StopInLoopsAndCalls) {
  EXPECT_EQ(
      run_text(
          std::string(kLists) +
              "fn spin(c: chan bool) -> int { var n = 0; while n < 1000000000 { n = n + 1; } return n; }\n"
              "fn fib(n: int) -> int { if n < 2 { return n; } return fib(n - 1) + fib(n - 2); }\n"
              "fn main() { let c = chan bool(1); let t = spawn fib(25); print(work(100, \"a\")); "
              "print(join(t)); }",
          kStressed)
          .output,
      "7000\n75025\n");
}

TEST(Threads, AFaultEndsThemAll) {
  const Ran ran = run_text(
      "fn f(z: int) -> int { return 1 / z; }\nfn g() { while true {} }\nfn h(c: chan int) { receive(c); }\n"
      "fn main() { spawn g(); spawn h(chan int(1)); spawn g(); print(join(spawn f(0))); }");
  EXPECT_EQ(ran.error, "1:32: division by zero");
  EXPECT_EQ(ran.output, "");
  EXPECT_EQ(run_text("fn g() { while true {} }\nfn main() { spawn g(); fail(\"main\"); }").error,
            "2:24: main");
}

TEST(Threads, ThatWaitForEachOtherAreAFault) {
  EXPECT_EQ(run_text("fn main() {\nreceive(chan int(1)); }").error, "2:1: all threads wait for each other");
  EXPECT_EQ(run_text("fn main() { let c = chan int(1); send(c, 1);\nsend(c, 2); }").error,
            "2:1: all threads wait for each other");
  // Which of them tells of it is not said.
  for (const std::string_view main : {"print(join(spawn f(chan int(1))));", "spawn f(chan int(1));"}) {
    const Ran ran = run_text_as(
        "fn f(c: chan int) -> int { return receive(c); }\nfn main() { " + std::string(main) + " }", {}, {});
    EXPECT_NE(ran.error.find(": all threads wait for each other"), std::string::npos) << ran.error;
    EXPECT_EQ(ran.output, "");
  }
}

TEST(Threads, HaveStacksOfTheirOwn) {
  EXPECT_EQ(
      run_text(
          "fn down(n: int) -> int { return down(n + 1) + 1; }\nfn main() { print(join(spawn down(0))); }")
          .error,
      "1:4: stack overflow in function 'down'");
}

TEST(Threads, ChannelsHaveALength) {
  EXPECT_EQ(run_text("fn main() { let n = 0;\nlet c = chan int(n); }", {.limit = 4096}).error,
            "2:9: channel capacity 0 is outside of 1 to 508");
  EXPECT_EQ(run_text("fn main() { let c = chan int(508);\nsend(c, 1); print(receive(c)); }", {.limit = 4096})
                .output,
            "1\n");
}

// ---- What the collector finds ----

TEST(Collector, FindsWhatIsOnlyInRegisters) {
  EXPECT_EQ(
      run_text(
          "record P { a: str, b: str, c: P }\nfn s(n: int) -> str { return str(n) + str(n); }\n"
          "fn p(a: str, b: str) -> P { return P(a + \"!\", b, P(b, s(3), null)); }\n"
          "fn three(a: str, b: str, c: str) -> str { return a + b + c; }\n"
          "fn main() { print((s(1) + s(2)) + (s(3) + s(4))); print(three(s(1), s(2), s(3)));\n"
          "  let x = p(s(5), s(6)); print(x.a + x.b + x.c.a + x.c.b); print(s(7) == s(7)); print(s(1) < "
          "s(2));\n"
          "  let a = array(3, s(8)); a[1] = s(9) + a[0]; print(a[1]); a[len(s(1))] = s(4); print(a[2]);\n"
          "  x.c.b = s(1) + x.a; print(x.c.b); print(array(2, s(2))[len(s(3)) - 1]); print(slice(s(12), 1, "
          "len(s(3))));\n"
          "  let c = chan str(2); send(c, s(1)); send(c, s(2)); print(receive(c) + receive(c)); }",
          kStressed)
          .output,
      "11223344\n112233\n55!666633\ntrue\ntrue\n9988\n44\n1155!\n22\n2\n1122\n");
}

TEST(Collector, GivesBackWhatIsNotUsed) {
  EXPECT_EQ(
      run_text("record L { next: L, n: int }\nfn main() { var i = 0; var l: L = null; while i < 1000000 {\n"
               "  l = L(null, i); let a = array(10, i); i = i + 1; } print(l.n); }",
               {.limit = std::size_t{1} << 16})
          .output,
      "999999\n");
}

TEST(Collector, TailCallsGiveTheirFramesBack) {
  EXPECT_EQ(run_text("record L { next: L }\nfn f(l: L, n: int) -> int { if n == 0 { return 1; } return "
                     "f(L(null), n - 1); }\n"
                     "fn main() { print(f(null, 1000000)); }",
                     {.limit = std::size_t{1} << 16})
                .output,
            "1\n");
}

// The collector asks the main thread to stop while that is in another run: it must know of it afterwards.
TEST(Threads, StopBehindARunInsideOfTheirOutput) {
  const Source source = source_of(
      "fn f(done: [bool]) { var n = 0; while n < 5000000 { n = n + 1; } let a = array(10, n); done[0] = "
      "true; "
      "}\n"
      "fn main() { let done = array(1, false); spawn f(done); print(1); while not done[0] {} print(2); }");
  const Source inner = source_of("fn main() { print(3); }");
  Diagnostics diagnostics;
  const auto executable = compile(source, diagnostics);
  const auto inside = compile(inner, diagnostics);
  ASSERT_TRUE(diagnostics.empty());
  std::string output;
  const Output slowly = [&](std::string_view line) {
    output.append(line);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  };
  const Output nested = [&](std::string_view line) {
    output.append(line);
    if (line == "1\n") run(inside->main(), slowly);
  };
  EXPECT_FALSE(run(executable->main(), nested, nullptr, kStressed).error);
  EXPECT_EQ(output, "1\n3\n2\n");
}

}  // namespace
}  // namespace nib::test
