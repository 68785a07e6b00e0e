// How fast nib's calls are: recursive fib in nib against the same in C by gcc -O1, and with sites that are
// off against without.
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
constexpr double kOffTarget_ns = 0.5;
// Short runs, which mostly fit between what else the machine does: tenths of a nanosecond are at stake.
constexpr std::int64_t kShortArgument = 24;
constexpr int kShortPairs = 801;

constexpr const char* kProgram =
    "fn fib(n: int) -> int { if n < 2 { return n; } return fib(n - 1) + fib(n - 2); }\n"
    "fn main() { print(fib(";

// fib(n) calls fib 2 fib(n + 1) - 1 times in all.
double calls_of(std::int64_t n) {
  return 2.0 * static_cast<double>(fib_in_c(n + 1)) - 1;
}

nib::Source source_for(std::int64_t argument) {
  return {.name = "fib.nib",
          .absolute_path = "/fib.nib",
          .text = kProgram + std::to_string(argument) + ")); }\n"};
}

int measure_sites() {
  const nib::Source source = source_for(kShortArgument);
  nib::Diagnostics diagnostics;
  const auto with = nib::compile(source, diagnostics, {.sites = nib::SitePolicy::kAlways});
  const auto without = nib::compile(source, diagnostics, {.sites = nib::SitePolicy::kNever});
  if (with == nullptr || without == nullptr) return 1;
  const auto run = [](const nib::Executable& program) { nib::run(program.main(), [](std::string_view) {}); };
  const auto cost = jitquill::bench::paired_difference(
      kPairs, [&] { run(*with); }, [&] { run(*without); });
  const double ns = 1e9 / calls_of(kShortArgument);
  std::printf(
      "fib: sites that are off, a call %25.2f ns (95%% bound %.2f, target %.1f; a call without: %.2f)\n",
      cost.median_s * ns, cost.upper_95_s * ns, kOffTarget_ns, cost.floor_s * ns);
  return 0;
}

}  // namespace

int main() {
  const nib::Source source = source_for(kArgument);
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
  return measure_sites();
}
