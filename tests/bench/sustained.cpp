// What tracing every call of a nib program costs for as long as it lasts, with the drain beside it on another
// CPU: fib with sites on against fib with none, for each pair of entry and end, beside the least that two
// records cost.
#include <jitquill/jitquill.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "agent/hooks/cpu.hpp"
#include "nib/executable.hpp"
#include "nib/runtime.hpp"
#include "nib/source.hpp"
#include "tests/bench/paired.hpp"
#include "tests/support/temp_folder.hpp"

namespace {

constexpr int kRuns = 21;
constexpr int kFibArgument = 31;           // 4.4 million calls a run: more records than memory= holds
constexpr double kCalls = 4'356'617;       // 2 fib(32) - 1
constexpr std::size_t kFloorPairs = 8000;  // records of one chunk
constexpr double kOnTarget = 1.05;
constexpr double kSustainedTarget = 1.2;

nib::Source fib(int argument) {
  return {.name = "fib.nib",
          .absolute_path = "/fib.nib",
          .text =
              "fn fib(n: int) -> int { if n < 2 { return n; } return fib(n - 1) + fib(n - 2); }\n"
              "fn main() { print(fib(" +
              std::to_string(argument) + ")); }\n"};
}

using Program = std::unique_ptr<nib::Executable>;

double seconds_of_run(const Program& program) {
  return jitquill::bench::seconds_of([&] { nib::run(program->main(), [](std::string_view) {}); });
}

// Two reads of the counter and two 16-byte stores: seconds a pair.
double floor_s() {
  static thread_local std::array<std::uint64_t, 4 * kFloorPairs> words;
  const double all = jitquill::bench::seconds_of([&] {
    std::uint64_t* at = words.data();
    for (std::size_t i = 0; i < kFloorPairs; ++i, at += 4) {
      at[1] = i;
      asm volatile("" : : : "memory");
      at[0] = jitquill::cpu::ticks();
      at[3] = i;
      asm volatile("" : : : "memory");
      at[2] = jitquill::cpu::ticks();
    }
  });
  return all / kFloorPairs;
}

struct Sample {
  double ours_s;  // a pair, beside the program's own time
  double floor_s;
};

Sample sample(const Program& traced, const Program& bare, double calls) {
  const double on = seconds_of_run(traced);
  const double off = seconds_of_run(bare);
  return {(on - off) / calls, floor_s()};
}

void print(const char* what, const std::vector<Sample>& samples, double target) {
  std::vector<double> ratios, ours, floors;
  for (const Sample& each : samples) {
    ratios.push_back(each.ours_s / each.floor_s);
    ours.push_back(each.ours_s);
    floors.push_back(each.floor_s);
  }
  using namespace jitquill::bench;
  print(what, Ratio{median_of(ratios), upper_95_of(ratios), median_of(ours), median_of(floors)}, target);
  std::printf("%-60s %.2f ns a pair, floor %.2f ns\n", "", median_of(ours) * 1e9, median_of(floors) * 1e9);
}

// Runs that fit into the lanes' memory, each when the drain has emptied it: what the thread itself pays.
std::vector<Sample> in_bursts(const Program& traced, const Program& bare, double calls) {
  std::vector<Sample> samples;
  for (int i = 0; i < 10 * kRuns; ++i) {
    samples.push_back(sample(traced, bare, calls));
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
  }
  return samples;
}

std::vector<Sample> without_pause(const Program& traced, const Program& bare) {
  std::vector<Sample> samples;
  for (int i = 0; i < kRuns; ++i) samples.push_back(sample(traced, bare, kCalls));
  return samples;
}

// What is lost is not sustained.
void print_losses() {
  jitquill_statistic row{};
  row.struct_size = sizeof row;
  for (std::size_t i = 0; jitquill_statistic_at(i, &row) == JITQUILL_OK; ++i) {
    const std::string_view name(row.name);
    if (name == "run_records" || name == "run_records_lost")
      std::printf("%-60s %llu\n", row.name, static_cast<unsigned long long>(row.value));
  }
}

}  // namespace

int main() {
  const test_support::TempFolder folder;
  const std::string options = "formats=counts hooks=* dir=" + folder.file("out");
  const jitquill_start_options start = {sizeof start, options.c_str()};
  if (jitquill_start(&start) != JITQUILL_OK) return 1;
  nib::Diagnostics diagnostics;
  constexpr int kShort = 22;  // 57,313 calls
  const Program traced = nib::compile(fib(kFibArgument), diagnostics, {.sites = nib::SitePolicy::kAlways});
  const Program bare = nib::compile(fib(kFibArgument), diagnostics, {.sites = nib::SitePolicy::kNever});
  const Program short_traced = nib::compile(fib(kShort), diagnostics, {.sites = nib::SitePolicy::kAlways});
  const Program short_bare = nib::compile(fib(kShort), diagnostics, {.sites = nib::SitePolicy::kNever});
  if (!traced || !bare || !short_traced || !short_bare) return 1;
  print("sites on in nib, the thread alone / floor", in_bursts(short_traced, short_bare, 57'313), kOnTarget);
  print("sites on in nib, sustained with the drain / floor", without_pause(traced, bare), kSustainedTarget);
  std::vector<Sample> first, second;
  std::thread other([&] { second = without_pause(traced, bare); });
  first = without_pause(traced, bare);
  other.join();
  print("the same, first of two threads", first, kSustainedTarget);
  print("the same, second of two threads", second, kSustainedTarget);
  const jitquill_status stopped = jitquill_stop();
  print_losses();
  return stopped == JITQUILL_OK ? 0 : 1;
}
