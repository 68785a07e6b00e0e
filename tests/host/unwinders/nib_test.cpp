// What a host throws from a function that nib calls passes through nib's frames, whatever they look like.
#include <gtest/gtest.h>

#include "tests/host/unwinders/chain_code.hpp"
#include "tests/unit/nib/nib_programs.hpp"

namespace nib::test {
namespace {

struct Stop {
  std::string printed;
};

// What arrives when the first print() of the program throws.
std::string thrown_by(std::string_view text) {
  const Source source = source_of(text);
  Diagnostics diagnostics;
  const auto executable = compile(source, diagnostics);
  if (executable == nullptr) return "does not compile";
  try {
    run(executable->main(), [](std::string_view line) { throw Stop{std::string(line)}; });
  } catch (const Stop& stop) {
    return stop.printed;
  }
  return "nothing";
}

TEST(NibExceptions, PassThroughMainAndOneCallAndThirty) {
  EXPECT_EQ(thrown_by("fn main() { print(5); }"), "5\n");
  EXPECT_EQ(thrown_by("fn f(n: int) { print(n + 1); } fn main() { f(5); f(6); }"), "6\n");
  EXPECT_EQ(thrown_by("fn f(n: int) -> int { if n == 0 { print(n); return 1; } return f(n - 1) * n; }\n"
                      "fn main() { print(f(30)); }"),
            "0\n");
}

// Enough live variables for every preserved register and a stack frame.
TEST(NibExceptions, PassThroughLargeFrames) {
  std::string locals, sum = "0";
  for (int i = 0; i < 100; ++i) {
    locals += "let v" + std::to_string(i) + " = n + " + std::to_string(i) + ";";
    sum += " + v" + std::to_string(i);
  }
  EXPECT_EQ(thrown_by("fn g(n: int) -> int {" + locals + " if n == 9 { print(true); } return g(n + 1) + " +
                      sum + "; } fn main() { print(g(0)); }"),
            "true\n");
}

TEST(NibExceptions, ARunAfterOneIsSound) {
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(thrown_by("fn f() { print(1); } fn main() { f(); }"), "1\n");
    EXPECT_EQ(output_of("print(2);"), "2\n");
    EXPECT_EQ(run_text("fn main() { let z = 0; print(1 % z); }").error, "1:32: division by zero");
  }
  EXPECT_EQ(jitquill::test::open_sections(), 0u);
}

}  // namespace
}  // namespace nib::test
