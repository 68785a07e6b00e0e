// Makes events of functions for ever, on some threads that timers interrupt, and counts them where they
// outlive it. Arguments: the file of kill_record.hpp, how many threads, steps of a thread (0 = until it is
// killed).
#include <jitquill/events.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>

#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "tests/host/sites/sled_code.hpp"
#include "tests/host/survival/kill_record.hpp"

namespace {

using kill_record::kFunctions;
using kill_record::kLevels;

struct Functions {
  SledCode code[kFunctions];
  std::uint64_t ids[kFunctions];
};
Functions* g_functions[kLevels];
kill_record::Progress* g_progress;
thread_local unsigned t_number;
thread_local std::uint64_t t_steps[kLevels];

void announce(unsigned level) {
  g_functions[level] = new Functions;
  for (unsigned i = 0; i < kFunctions; ++i) {
    const std::string end = std::to_string(level) + "_" + std::to_string(i);
    const std::string jitted = "j" + end, interpreted = "i" + end;
    const jitquill_code code = g_functions[level]->code[i].news(jitted.c_str(), 0);
    if (jitquill_code_loaded(&code, nullptr) != JITQUILL_OK) std::exit(3);
    const jitquill_function_info info = {sizeof info, 0, interpreted.c_str(), nullptr};
    if (jitquill_function(&info, &g_functions[level]->ids[i]) != JITQUILL_OK) std::exit(4);
  }
}

void begin(kill_record::Tally& tally) {
  tally.begun.store(tally.begun.load(std::memory_order_relaxed) + 1);
}
void end(kill_record::Tally& tally) {
  tally.done.store(tally.done.load(std::memory_order_relaxed) + 1);
}

class Doer {
 public:
  explicit Doer(unsigned level)
      : level_(level),
        tallies_(g_progress->threads[t_number].levels[level]),
        functions_(*g_functions[level]) {}

  void call() {
    const unsigned function = next();
    begin(tallies_.entries);
    begin(tallies_.ends);
    if (functions_.code[function].function(0)(40, 2) != 42) std::abort();
    end(tallies_.entries);
    end(tallies_.ends);
  }
  void enter(unsigned depth) {
    open_[depth] = functions_.ids[next()];
    begin(tallies_.entries);
    (void)jitquill_enter(open_[depth], key(depth));
    end(tallies_.entries);
  }
  void leave(unsigned depth) {
    begin(tallies_.ends);
    (void)jitquill_leave(open_[depth], key(depth));
    end(tallies_.ends);
  }
  void post() {
    static constexpr char kPayload[64] = "what a runtime posts";
    const std::size_t size = kill_record::post_size(tallies_.posts.begun.load());
    begin(tallies_.posts);
    (void)jitquill_post(kill_record::kFirstEvent + level_, kPayload, size);
    end(tallies_.posts);
  }

 private:
  std::uint64_t key(unsigned depth) const { return level_ * 16 + depth; }
  unsigned next() const {
    return kill_record::function_of(t_number, level_, tallies_.entries.begun.load(std::memory_order_relaxed));
  }

  const unsigned level_;
  kill_record::Level& tallies_;
  Functions& functions_;
  std::uint64_t open_[2] = {};
};

void do_steps(unsigned level, unsigned count) {
  Doer doer(level);
  for (; count > 0; --count) kill_record::do_step(t_steps[level]++, doer);
}

void on_timer(int signal) {
  do_steps(signal == SIGUSR1 ? 1 : 2, 3);
}

void handle(int signal, int also_held) {
  struct sigaction action = {};
  action.sa_handler = on_timer;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  if (also_held != 0) sigaddset(&action.sa_mask, also_held);
  sigaction(signal, &action, nullptr);
}

void start_timer(int signal, long interval_ns) {
  sigevent event = {};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = signal;
  event._sigev_un._tid = static_cast<int>(syscall(SYS_gettid));
  timer_t timer;
  const itimerspec spec = {{0, interval_ns}, {0, interval_ns}};
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 || timer_settime(timer, 0, &spec, nullptr) != 0)
    std::exit(5);
}

// Until it is killed not as fast as it could: what is to be read back grows with it.
void run(unsigned number, std::uint64_t steps) {
  t_number = number;
  g_progress->threads[number].tid.store(static_cast<int>(syscall(SYS_gettid)));
  start_timer(SIGUSR1, 170'000);
  start_timer(SIGUSR2, 310'000);
  for (std::uint64_t step = 0; steps == 0 || step < steps; ++step) {
    do_steps(0, 1);
    if (steps != 0 || step % 64 != 63) continue;
    const timespec pause = {0, 50'000};
    nanosleep(&pause, nullptr);
  }
  sigset_t both;
  sigemptyset(&both);
  sigaddset(&both, SIGUSR1);
  sigaddset(&both, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &both, nullptr);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  g_progress = kill_record::map(argv[1]);
  const unsigned long threads = std::strtoul(argv[2], nullptr, 10);
  const std::uint64_t steps = std::strtoull(argv[3], nullptr, 10);
  if (g_progress == nullptr || threads > kill_record::kThreads) return 2;
  for (unsigned level = 0; level < kLevels; ++level) announce(level);
  handle(SIGUSR1, 0);
  handle(SIGUSR2, SIGUSR1);
  g_progress->pid.store(getpid());
  std::vector<std::thread> others;
  for (unsigned i = 1; i < threads; ++i) others.emplace_back(run, i, steps);
  run(0, steps);
  for (std::thread& other : others) other.join();
  return 0;
}
