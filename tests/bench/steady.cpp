// Whether the last of 100,000 live functions costs what the first cost: each block of 10,000 against the
// first block of the same run.
#include <algorithm>
#include <array>
#include <cstdio>
#include <vector>

#include "tests/bench/announced.hpp"
#include "tests/bench/paired.hpp"

namespace {

constexpr std::size_t kBlock = 10'000;
constexpr std::size_t kBlocks = 10;
constexpr int kRuns = 9;
constexpr double kTarget = 1.25;

}  // namespace

int main() {
  std::array<std::vector<double>, kBlocks> ratios;
  std::vector<double> first_s;
  for (int run = 0; run < kRuns; ++run) {
    const jitquill::bench::OutputFolder folder;  // a new one: 130 MB are removed after each run
    jitquill::bench::Announced announced(kBlock);
    for (std::size_t block = 0; block < kBlocks; ++block) {
      const double took_s = jitquill::bench::seconds_of([&] { announced.announce_all(true); });
      if (block == 0) first_s.push_back(took_s);
      ratios[block].push_back(took_s / first_s.back());
    }
  }
  std::printf("steady: %.2f us a function in the first block; blocks against it:",
              jitquill::bench::median_of(first_s) / kBlock * 1e6);
  double most = 0;
  for (const std::vector<double>& of_block : ratios) {
    const double median = jitquill::bench::median_of(of_block);
    std::printf(" %.2f", median);
    most = std::max(most, median);
  }
  std::printf("\nsteady: slowest block of %zu / first block, median of %d runs%7s ratio %.2f (target %.2f)\n",
              kBlock, kRuns, "", most, kTarget);
  return 0;
}
