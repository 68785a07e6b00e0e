// How fast nib's calls are: recursive fib in nib against the same in C by gcc -O1.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "nib/executable.hpp"
#include "nib/runtime.hpp"
#include "nib/source.hpp"
#include "tests/bench/paired.hpp"

extern "C" std::int64_t fib_in_c(std::int64_t n);

namespace {

constexpr std::int64_t kArgument = 32;
constexpr int kPairs = 61;

constexpr const char* kProgram =
    "fn fib(n: int) -> int { if n < 2 { return n; } return fib(n - 1) + fib(n - 2); }\n"
    "fn main() { print(fib(";

}  // namespace

int main() {
  const nib::Source source{.name = "fib.nib",
                           .absolute_path = "/fib.nib",
                           .text = kProgram + std::to_string(kArgument) + ")); }\n"};
  nib::Diagnostics diagnostics;
  const auto executable = nib::compile(source, diagnostics);
  if (executable == nullptr) return 1;
  std::int64_t result = 0;
  std::string output;
  const auto in_nib = [&] {
    nib::run(executable->main(), [&](std::string_view line) { output.assign(line); });
  };
  const auto in_c = [&] { result = fib_in_c(kArgument); };
  const auto ratio = jitquill::bench::paired(kPairs, in_nib, in_c);
  if (output != std::to_string(result) + "\n") return 1;
  std::printf("fib(%lld): %.1f ms in nib, %.1f ms by gcc -O1 (median of %d)\n",
              static_cast<long long>(kArgument), ratio.ours_s * 1e3, ratio.floor_s * 1e3, kPairs);
  jitquill::bench::print("fib: nib / gcc -O1", ratio, 2.0);
  return 0;
}
