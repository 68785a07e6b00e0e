// What being sampled 999 times a second costs: the work of a thread while sampling is on against while it is
// off, by the CPU time of that thread (the kernel's interrupts are in it), and by that of the process (the
// drain's thread too).
#include <jitquill/jitquill.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

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

// The least that any sampler can cost here: the kernel's timer, of an event that has no ring and no reader.
Cost run_with_bare_event() {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = PERF_COUNT_SW_CPU_CLOCK;
  attributes.freq = 1;
  attributes.sample_freq = 999;
  const long event = ::syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  const Cost cost = run();
  if (event >= 0) ::close(static_cast<int>(event));
  return cost;
}

// Against the same work alone.
template <class Ours>
void measure(const char* of_thread, const char* of_process, Ours ours) {
  jitquill::bench::Pairs thread, process;
  for (const auto& [with, without] : jitquill::bench::interleaved(kPairs, ours, run)) {
    thread.ours_s.push_back(with.thread_s);
    thread.floor_s.push_back(without.thread_s);
    process.ours_s.push_back(with.process_s);
    process.floor_s.push_back(without.process_s);
  }
  jitquill::bench::print(of_thread, ratio_of(thread), kTarget);
  if (of_process != nullptr) jitquill::bench::print(of_process, ratio_of(process), kTarget);
}

}  // namespace

int main() {
  const jitquill::bench::OutputFolder folder;
  measure("sampling: 999 Hz, the thread that is sampled", "sampling: 999 Hz, with the thread that reads",
          [] { return run_sampled("formats=samples sample=999"); });
  measure("sampling: 999 Hz, an event of the kernel that nobody reads", nullptr, run_with_bare_event);
  return 0;
}
