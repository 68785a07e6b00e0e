// How fast nib's code is: programs of demo-jit/programs against the same in C by gcc -O1. Recursive fib:
// bench-fib.
#include "tests/bench/nib.h"

#include <cstdio>
#include <cstdlib>
#include <string>

#include "nib/executable.hpp"
#include "nib/runtime.hpp"
#include "nib/source.hpp"
#include "tests/bench/paired.hpp"

namespace {

constexpr int kPairs = 15;

// The program, with a main that runs it with this size.
nib::Source source_for(const std::string& name, const std::string& main) {
  auto source = nib::read_source(std::string(NIB_PROGRAMS "/") + name + ".nib");
  if (!source) std::exit(2);
  source->text.resize(source->text.find("fn main()"));
  source->text += "fn main() { " + main + " }\n";
  return *source;
}

template <class InC>
void compare(const std::string& name, const std::string& main, double target, InC in_c) {
  const nib::Source source = source_for(name, main);
  nib::Diagnostics diagnostics;
  const auto executable = nib::compile(source, diagnostics);
  if (executable == nullptr) std::exit(3);
  std::size_t printed = 0;
  const auto in_nib = [&] {
    const auto result = nib::run(executable->main(), [&](std::string_view line) { printed += line.size(); });
    if (result.error) std::exit(4);
  };
  double sum = 0;
  const auto ratio = jitquill::bench::paired(kPairs, in_nib, [&] { sum += static_cast<double>(in_c()); });
  if (printed == 0 || sum == 0) std::exit(5);
  std::printf("%s: %.1f ms in nib, %.1f ms by gcc -O1 (median of %d)\n", name.c_str(), ratio.ours_s * 1e3,
              ratio.floor_s * 1e3, kPairs);
  jitquill::bench::print((name + ": nib / gcc -O1").c_str(), ratio, target);
}

}  // namespace

int main() {
  compare("sieve",
          "let p = sieve(5000000); var n = 0; var i = 0;\n"
          "while i < len(p) { if p[i] { n = n + 1; } i = i + 1; } print(n);",
          2.0, [] { return sieve_in_c(5000000); });
  compare("n_body", "run(200000);", 3.0, [] { return n_body_in_c(200000); });
  compare("spectral_norm", "run(500);", 3.0, [] { return spectral_norm_in_c(500); });
  compare("binary_trees", "run(15);", 3.0, [] { return binary_trees_in_c(15); });
  return 0;
}
