// Interleaved pairs of two pieces of work, and their ratio: figures of one machine at one time, which is why
// nothing is asserted.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <vector>

namespace jitquill::bench {

template <class Work>
double seconds_of(Work work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

struct Ratio {
  double median;
  double upper_95;  // 95 % confidence bound of the median, by order statistics
  double ours_s;    // median of one run
  double floor_s;
};

inline double median_of(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<long>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

template <class Ours, class Floor>
Ratio paired(int pairs, Ours ours, Floor floor) {
  std::vector<double> ratios, ours_s, floor_s;
  ours();  // warm up both
  floor();
  for (int i = 0; i < pairs; ++i) {
    const bool ours_first = i % 2 == 0;
    const double a = ours_first ? seconds_of(ours) : seconds_of(floor);
    const double b = ours_first ? seconds_of(floor) : seconds_of(ours);
    ours_s.push_back(ours_first ? a : b);
    floor_s.push_back(ours_first ? b : a);
    ratios.push_back(ours_s.back() / floor_s.back());
  }
  std::sort(ratios.begin(), ratios.end());
  const double n = pairs;
  const auto upper = static_cast<std::size_t>(std::min(n - 1, std::ceil(n / 2 + 1.96 * std::sqrt(n) / 2)));
  return {ratios[ratios.size() / 2], ratios[upper], median_of(ours_s), median_of(floor_s)};
}

inline void print(const char* what, const Ratio& ratio, double target) {
  std::printf("%-60s ratio %.2f (95%% bound %.2f, target %.2f)\n", what, ratio.median, ratio.upper_95,
              target);
}

}  // namespace jitquill::bench
