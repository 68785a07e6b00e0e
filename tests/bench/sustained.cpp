// What tracing every call of a nib program costs for as long as it lasts, with the drain beside it on another
// CPU: fib with sites on against fib with none, for each pair of entry and end, beside the least that two
// records cost. Of a thread's time on the wall its own CPU time has a line, and its waiting for the drain;
// and what no ratio could be less than on so few CPUs, with so much work.
//
// bench-sustained [alone|drain|two]: that part only.
#include <jitquill/jitquill.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
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

// On the wall, and of that what the threads that ran it had a CPU.
struct Cost {
  double wall_s = 0;
  double cpu_s = 0;

  Cost operator-(const Cost& other) const { return {wall_s - other.wall_s, cpu_s - other.cpu_s}; }
  Cost operator/(double by) const { return {wall_s / by, cpu_s / by}; }
};

double cpu_s(clockid_t whose) {
  timespec time{};
  clock_gettime(whose, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

template <class Work>
Cost cost_of(Work work) {
  const double before_s = cpu_s(CLOCK_THREAD_CPUTIME_ID);
  const double wall_s = jitquill::bench::seconds_of(work);
  return {wall_s, cpu_s(CLOCK_THREAD_CPUTIME_ID) - before_s};
}

Cost cost_of_run(const Program& program) {
  return cost_of([&] { nib::run(program->main(), [](std::string_view) {}); });
}

// Two reads of the counter and two 16-byte stores: of a pair.
Cost floor_cost() {
  static thread_local std::array<std::uint64_t, 4 * kFloorPairs> words;
  const Cost all = cost_of([&] {
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

// All of a pair; `cpu_s` of one thread's.
struct Sample {
  Cost traced, bare, floor;
};

// They go first by turns.
Sample sample(const Program& traced, const Program& bare, double calls, bool is_traced_first) {
  const Cost first = cost_of_run(is_traced_first ? traced : bare);
  const Cost second = cost_of_run(is_traced_first ? bare : traced);
  return {(is_traced_first ? first : second) / calls, (is_traced_first ? second : first) / calls,
          floor_cost()};
}

double median(const std::vector<Sample>& samples, double (*of)(const Sample&)) {
  std::vector<double> values;
  for (const Sample& each : samples) values.push_back(of(each));
  return jitquill::bench::median_of(values);
}

// What the sites add: on the wall, and of the thread's own CPU time, which has nothing of what else ran on
// its CPU. The rest of the difference is waiting, for a CPU or for the drain.
void print(const char* what, const std::vector<Sample>& samples, double target) {
  using namespace jitquill::bench;
  std::vector<double> ratios, cpu_ratios;
  for (const Sample& each : samples) {
    ratios.push_back((each.traced.wall_s - each.bare.wall_s) / each.floor.wall_s);
    cpu_ratios.push_back((each.traced.cpu_s - each.bare.cpu_s) / each.floor.cpu_s);
  }
  const double ours_s = median(samples, [](const Sample& s) { return s.traced.wall_s - s.bare.wall_s; });
  const double floor_s = median(samples, [](const Sample& s) { return s.floor.wall_s; });
  const double cpu = median(samples, [](const Sample& s) { return s.traced.cpu_s - s.bare.cpu_s; });
  const double cpu_floor = median(samples, [](const Sample& s) { return s.floor.cpu_s; });
  print(what, Ratio{median_of(ratios), upper_95_of(ratios), ours_s, floor_s}, target);
  std::printf("%-60s %.2f ns a pair, floor %.2f ns\n", "", ours_s * 1e9, floor_s * 1e9);
  print("  of the thread's own CPU time",
        Ratio{median_of(cpu_ratios), upper_95_of(cpu_ratios), cpu, cpu_floor}, target);
  std::printf("%-60s %.2f ns a pair, floor %.2f ns\n", "", cpu * 1e9, cpu_floor * 1e9);
}

// Runs that fit into the lanes' memory, each when the drain has emptied it: what the thread itself pays.
// Whatever runs first behind a pause pays for cold caches, some 70 us: neither of the two.
std::vector<Sample> in_bursts(const Program& traced, const Program& bare, double calls) {
  std::vector<Sample> samples;
  for (int i = 0; i < 5 * kRuns; ++i) {
    (void)cost_of_run(bare);
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

// In one tier: all calls are calls, and none compiles anything.
struct Programs {
  explicit Programs(int argument)
      : source(fib(argument)),
        traced(compiled(nib::SitePolicy::kAlways)),
        bare(compiled(nib::SitePolicy::kNever)) {}

  Program compiled(nib::SitePolicy sites) {
    return nib::compile(source, diagnostics, {.sites = sites, .tiers = nib::Tiers::kFirst});
  }

  const nib::Source source;
  nib::Diagnostics diagnostics;
  Program traced, bare;
};

void alone() {
  const Programs fib(kShort);
  print("sites on in nib, the thread alone / floor", in_bursts(fib.traced, fib.bare, kShortCalls), kOnTarget);
  print_waits(5 * kRuns * kShortCalls);
}

// CPU time of the drain so far, once it has nothing left to do: of the one thread there is beside this.
double drain_cpu_s() {
  std::this_thread::sleep_for(std::chrono::seconds(1));
  double all_s = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    const int tid = std::stoi(task.path().filename());
    constexpr int kOfThread = 6;  // as pthread_getcpuclockid() makes it
    if (tid != gettid()) all_s += cpu_s(~tid * 8 | kOfThread);
  }
  return all_s;
}

// The work that there is for a pair of each thread, on the CPUs that there are: each thread's own, and the
// drain's, which is one thread. Against that nothing can be won but by less work.
void print_bound(const std::vector<Sample>& samples, double drain_s, unsigned threads) {
  const unsigned cpus = std::thread::hardware_concurrency();  // that this process may use
  const double own_s = median(samples, [](const Sample& s) { return s.traced.cpu_s; });
  const double bare_s = median(samples, [](const Sample& s) { return s.bare.cpu_s; });
  const double floor_s = median(samples, [](const Sample& s) { return s.floor.cpu_s; });
  const double least_s = std::max({own_s, threads * drain_s, threads * (own_s + drain_s) / cpus});
  std::printf("%-60s %.2f (%u CPUs; a pair is %.2f ns of its thread's, %.2f of the drain's)\n",
              "  no ratio can be less than", (least_s - bare_s) / floor_s, cpus, own_s * 1e9, drain_s * 1e9);
}

void with_drain() {
  const Programs fib(kLong);
  const double before_s = drain_cpu_s();
  const std::vector<Sample> samples = without_pause(fib.traced, fib.bare);
  const double drain_s = (drain_cpu_s() - before_s) / kRuns / kCalls;
  print("sites on in nib, sustained with the drain / floor", samples, kSustainedTarget);
  print_bound(samples, drain_s, 1);
  print_waits(kRuns * kCalls);
}

// Each thread's share of the CPU time of both.
Cost cost_of_two(const Program& program, int runs) {
  const auto run_often = [&] {
    for (int i = 0; i < runs; ++i) (void)cost_of_run(program);
  };
  Cost other, own;
  const double wall_s = jitquill::bench::seconds_of([&] {
    std::thread thread([&] { other = cost_of(run_often); });
    own = cost_of(run_often);
    thread.join();
  });
  return {wall_s, (own.cpu_s + other.cpu_s) / 2};
}

// On two CPUs there is none for the drain: its work for two events comes on top of each pair's. Runs follow
// each other, so that what is left to it at their end is little of what it did.
void two_threads() {
  constexpr int kTogether = 8, kTimes = 5;
  constexpr double kPairs = kTogether * kCalls;
  const Programs fib(kLong);
  std::vector<Sample> samples;
  const double before_s = drain_cpu_s();
  for (int i = 0; i < kTimes; ++i) {
    const Cost on = cost_of_two(fib.traced, kTogether);
    const Cost off = cost_of_two(fib.bare, kTogether);
    samples.push_back({on / kPairs, off / kPairs, floor_cost()});
  }
  const double drain_s = (drain_cpu_s() - before_s) / (2 * kTimes * kPairs);
  print("sites on in nib, two threads and the drain / floor", samples, kSustainedTarget);
  print_bound(samples, drain_s, 2);
  print_waits(2 * kTimes * kPairs);
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
