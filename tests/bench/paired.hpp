// Interleaved pairs of two pieces of work, and their ratio or difference: figures of one machine at one time,
// which is why nothing is asserted.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

namespace jitquill::bench {

template <class Work>
double seconds_of(Work work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

inline double median_of(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<long>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

// 95 % confidence bound of the median, by order statistics.
inline double upper_95_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const double n = static_cast<double>(values.size());
  return values[static_cast<std::size_t>(std::min(n - 1, std::ceil(n / 2 + 1.96 * std::sqrt(n) / 2)))];
}

// Seconds of each run; the runs with one index followed each other.
struct Pairs {
  std::vector<double> ours_s, floor_s;

  template <class Compare>
  std::vector<double> compared(Compare compare) const {
    std::vector<double> values;
    for (std::size_t i = 0; i < ours_s.size(); ++i) values.push_back(compare(ours_s[i], floor_s[i]));
    return values;
  }
};

// What both gave, pair by pair; they take turns in going first.
template <class Ours, class Floor>
auto interleaved(int pairs, Ours ours, Floor floor) {
  std::vector<std::pair<decltype(ours()), decltype(floor())>> results;
  (void)ours();  // warm up both
  (void)floor();
  for (int i = 0; i < pairs; ++i) {
    const bool ours_first = i % 2 == 0;
    if (ours_first) {
      const auto of_ours = ours();
      results.emplace_back(of_ours, floor());
    } else {
      const auto of_floor = floor();
      results.emplace_back(ours(), of_floor);
    }
  }
  return results;
}

template <class Ours, class Floor>
Pairs run_pairs(int pairs, Ours ours, Floor floor) {
  Pairs result;
  const auto all = interleaved(
      pairs, [&] { return seconds_of(ours); }, [&] { return seconds_of(floor); });
  for (const auto& [ours_s, floor_s] : all) {
    result.ours_s.push_back(ours_s);
    result.floor_s.push_back(floor_s);
  }
  return result;
}

struct Ratio {
  double median;
  double upper_95;
  double ours_s;  // median of one run
  double floor_s;
};

inline Ratio ratio_of(const Pairs& runs) {
  const auto ratios = runs.compared([](double a, double b) { return a / b; });
  return {median_of(ratios), upper_95_of(ratios), median_of(runs.ours_s), median_of(runs.floor_s)};
}

template <class Ours, class Floor>
Ratio paired(int pairs, Ours ours, Floor floor) {
  return ratio_of(run_pairs(pairs, ours, floor));
}

struct Difference {
  double median_s;
  double upper_95_s;
  double ours_s;  // median of one run
  double floor_s;
};

template <class Ours, class Floor>
Difference paired_difference(int pairs, Ours ours, Floor floor) {
  const Pairs runs = run_pairs(pairs, ours, floor);
  const auto differences = runs.compared([](double a, double b) { return a - b; });
  return {median_of(differences), upper_95_of(differences), median_of(runs.ours_s), median_of(runs.floor_s)};
}

inline void print(const char* what, const Ratio& ratio, double target) {
  std::printf("%-60s ratio %.3f (95%% bound %.3f, target %.2f)\n", what, ratio.median, ratio.upper_95,
              target);
}

}  // namespace jitquill::bench
