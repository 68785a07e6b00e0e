// What tracing every call of a nib program costs for as long as it lasts, with the drain beside it on another
// CPU: fib with sites on against fib with none, for each pair of entry and end, beside the least that two
// records cost. And what of it was waiting for the drain.
//
// bench-sustained [alone|drain|two]: that part only.
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
constexpr int kLong = 31;                // 4.4 million calls a run: more records than memory= holds
constexpr double kCalls = 4'356'617;     // 2 fib(32) - 1
constexpr int kShort = 25;               // 8 MB of records: less than memory=
constexpr double kShortCalls = 242'785;  // 2 fib(26) - 1
// The floor's records fill 2 MB, which no cache of a core holds: the lane's come back from the drain's CPU.
constexpr std::size_t kFloorPairs = 64'000;
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

// They go first by turns.
Sample sample(const Program& traced, const Program& bare, double calls, bool is_traced_first) {
  const double first = seconds_of_run(is_traced_first ? traced : bare);
  const double second = seconds_of_run(is_traced_first ? bare : traced);
  return {(is_traced_first ? first - second : second - first) / calls, floor_s()};
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
// Whatever runs first behind a pause pays for cold caches, some 70 us: neither of the two.
std::vector<Sample> in_bursts(const Program& traced, const Program& bare, double calls) {
  std::vector<Sample> samples;
  for (int i = 0; i < 5 * kRuns; ++i) {
    (void)seconds_of_run(bare);
    samples.push_back(sample(traced, bare, calls, i % 2 == 0));
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
  }
  return samples;
}

std::vector<Sample> without_pause(const Program& traced, const Program& bare) {
  std::vector<Sample> samples;
  for (int i = 0; i < kRuns; ++i) samples.push_back(sample(traced, bare, kCalls, i % 2 == 0));
  return samples;
}

std::uint64_t statistic(std::string_view name) {
  jitquill_statistic row{};
  row.struct_size = sizeof row;
  for (std::size_t i = 0; jitquill_statistic_at(i, &row) == JITQUILL_OK; ++i)
    if (name == row.name) return row.value;
  return 0;
}

// Of the pairs since the last call. None of it: a thread costs what its hooks and its memory cost. Else the
// drain, or the CPU it did not get, is what it costs.
void print_waits(double pairs) {
  static std::uint64_t before = 0;
  const std::uint64_t now = statistic("run_waited_us");
  std::printf("%-60s %.2f ns a pair\n", "  of it waiting for the drain",
              static_cast<double>(now - before) * 1e3 / pairs);
  before = now;
}

// What is lost is not sustained.
void print_losses() {
  for (const char* name : {"run_records", "run_records_lost"})
    std::printf("%-60s %llu\n", name, static_cast<unsigned long long>(statistic(name)));
}

struct Programs {
  explicit Programs(int argument)
      : traced(nib::compile(fib(argument), diagnostics, {.sites = nib::SitePolicy::kAlways})),
        bare(nib::compile(fib(argument), diagnostics, {.sites = nib::SitePolicy::kNever})) {}
  nib::Diagnostics diagnostics;
  Program traced, bare;
};

void alone() {
  const Programs fib(kShort);
  print("sites on in nib, the thread alone / floor", in_bursts(fib.traced, fib.bare, kShortCalls), kOnTarget);
  print_waits(5 * kRuns * kShortCalls);
}

void with_drain() {
  const Programs fib(kLong);
  print("sites on in nib, sustained with the drain / floor", without_pause(fib.traced, fib.bare),
        kSustainedTarget);
  print_waits(kRuns * kCalls);
}

double seconds_of_two(const Program& program, int runs) {
  const auto run_often = [&] {
    for (int i = 0; i < runs; ++i) (void)seconds_of_run(program);
  };
  return jitquill::bench::seconds_of([&] {
    std::thread other(run_often);
    run_often();
    other.join();
  });
}

// On two CPUs there is none for the drain: its work for two events comes on top of each pair's. Runs follow
// each other, so that what is left to it at their end is little of what it did.
void two_threads() {
  constexpr int kTogether = 8, kTimes = 5;
  const Programs fib(kLong);
  std::vector<Sample> samples;
  for (int i = 0; i < kTimes; ++i) {
    const double on = seconds_of_two(fib.traced, kTogether);
    const double off = seconds_of_two(fib.bare, kTogether);
    samples.push_back({(on - off) / kTogether / kCalls, floor_s()});
  }
  print("sites on in nib, two threads and the drain / floor", samples, kSustainedTarget);
  print_waits(2 * kTimes * kTogether * kCalls);
}

}  // namespace

int main(int argc, char** argv) {
  const test_support::TempFolder folder;
  const std::string options = "formats=counts hooks=* dir=" + folder.file("out");
  const jitquill_start_options start = {sizeof start, options.c_str()};
  if (jitquill_start(&start) != JITQUILL_OK) return 1;
  const std::string_view part = argc > 1 ? argv[1] : "";
  if (part.empty() || part == "alone") alone();
  if (part.empty() || part == "drain") with_drain();
  if (part.empty() || part == "two") two_threads();
  const jitquill_status stopped = jitquill_stop();
  print_losses();
  return stopped == JITQUILL_OK ? 0 : 1;
}
