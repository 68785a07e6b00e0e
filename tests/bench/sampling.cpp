// What being sampled 999 times a second costs: the work of a thread while sampling is on against while it is
// off, by the CPU time of that thread (the kernel's interrupts are in it), and by that of the process (the
// drain's thread too).
#include <jitquill/jitquill.h>

#include <cstdint>
#include <cstdio>
#include <ctime>
#include <string>

#include "tests/bench/announced.hpp"
#include "tests/bench/paired.hpp"

namespace {

constexpr int kPairs = 40;
constexpr int kDepth = 20;
constexpr std::uint64_t kTurns = 150'000'000;
constexpr double kTarget = 1.01;

volatile std::uint64_t g_sink;

// At the bottom of a stack as programs have it.
[[gnu::noinline]] std::uint64_t work(int depth) {
  volatile char frame[128];
  frame[0] = static_cast<char>(depth);
  if (depth != 0) return work(depth - 1) + static_cast<std::uint64_t>(frame[0]);
  std::uint64_t value = 1;
  for (std::uint64_t i = 0; i < kTurns; ++i) asm volatile("imul $31, %0, %0\n\tadd $7, %0" : "+r"(value));
  return value;
}

double seconds_by(clockid_t clock) {
  timespec now{};
  (void)clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

struct Cost {
  double thread_s;
  double process_s;
};

Cost run() {
  const double thread_s = seconds_by(CLOCK_THREAD_CPUTIME_ID);
  const double process_s = seconds_by(CLOCK_PROCESS_CPUTIME_ID);
  g_sink = work(kDepth);
  return {seconds_by(CLOCK_THREAD_CPUTIME_ID) - thread_s, seconds_by(CLOCK_PROCESS_CPUTIME_ID) - process_s};
}

// Beginning and ending are not in it.
Cost run_sampled(const std::string& options) {
  const jitquill_start_options start = {sizeof start, options.c_str()};
  if (jitquill_start(&start) != JITQUILL_OK) std::puts("sampling: could not begin");
  const Cost cost = run();
  (void)jitquill_stop();
  return cost;
}

}  // namespace

int main() {
  const jitquill::bench::OutputFolder folder;
  jitquill::bench::Pairs thread, process;
  const auto results = jitquill::bench::interleaved(
      kPairs, [&] { return run_sampled("formats=samples sample=999"); }, run);
  for (const auto& [ours, floor] : results) {
    thread.ours_s.push_back(ours.thread_s);
    thread.floor_s.push_back(floor.thread_s);
    process.ours_s.push_back(ours.process_s);
    process.floor_s.push_back(floor.process_s);
  }
  jitquill::bench::print("sampling: 999 Hz, the thread that is sampled", ratio_of(thread), kTarget);
  jitquill::bench::print("sampling: 999 Hz, with the thread that reads", ratio_of(process), kTarget);
  return 0;
}
