// Threads that a timer's handler interrupts 10,000 times a second, anywhere: in hooks too. Both make traced
// calls and count them. Arguments: milliseconds, threads, how often each function spins, "here" or "aside"
// (the handler's stack). Says how often each function was called: "name count".
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

#include "tests/host/run/traced_code.hpp"

namespace {

constexpr long kPeriod_ns = 100'000;
constexpr unsigned kSteps = 3;
enum : unsigned { kMain, kHandler, kInner };

const TracedCode* code;
long spins;
std::atomic<std::uint64_t> mains{0}, handlers{0};
thread_local volatile std::uint64_t own_handlers = 0;

void check(bool is_right) {
  if (!is_right) std::abort();
}

void spin() {
  for (long i = 0; i < spins; ++i) asm volatile("");
}

std::uint64_t inner_body(void*) {
  spin();
  return 0;
}

std::uint64_t handler_body(void*) {
  return code->call(kInner, inner_body);
}

void handle(int) {
  code->call(kHandler, handler_body);
  own_handlers = own_handlers + 1;
}

std::uint64_t main_body(void*) {
  spin();
  code->steps(kSteps);
  return 0;
}

timer_t start_timer() {
  sigevent event = {};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = SIGPROF;
  event._sigev_un._tid = static_cast<pid_t>(syscall(SYS_gettid));
  timer_t timer = {};
  check(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
  const itimerspec each = {{0, kPeriod_ns}, {0, kPeriod_ns}};
  check(timer_settime(timer, 0, &each, nullptr) == 0);
  return timer;
}

bool is_before(const timespec& until) {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec < until.tv_sec || (now.tv_sec == until.tv_sec && now.tv_nsec < until.tv_nsec);
}

void run_thread(long milliseconds, bool aside) {
  std::vector<std::uint8_t> memory(std::size_t{64} << 10);
  stack_t stack = {};
  stack.ss_sp = memory.data();
  stack.ss_size = memory.size();
  if (aside) check(sigaltstack(&stack, nullptr) == 0);
  timespec until = {};
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_sec += milliseconds / 1000 + (until.tv_nsec + milliseconds % 1000 * 1'000'000) / 1'000'000'000;
  until.tv_nsec = (until.tv_nsec + milliseconds % 1000 * 1'000'000) % 1'000'000'000;
  const timer_t timer = start_timer();
  while (is_before(until)) {
    for (int i = 0; i < 100; ++i) code->call(kMain, main_body);
    mains += 100;
  }
  timer_delete(timer);
  stack.ss_flags = SS_DISABLE;
  check(sigaltstack(&stack, nullptr) == 0);
  handlers += own_handlers;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  const long milliseconds = std::strtol(argv[1], nullptr, 10);
  spins = std::strtol(argv[3], nullptr, 10);
  const bool aside = std::strcmp(argv[4], "aside") == 0;
  const TracedCode traced;
  code = &traced;
  code->load({"main", "handler", "inner"}, "steps");
  struct sigaction action = {};
  action.sa_handler = handle;
  action.sa_flags = SA_RESTART | (aside ? SA_ONSTACK : 0);
  check(sigaction(SIGPROF, &action, nullptr) == 0);
  std::vector<std::thread> threads;
  for (long i = std::strtol(argv[2], nullptr, 10); i > 0; --i)
    threads.emplace_back(run_thread, milliseconds, aside);
  for (std::thread& thread : threads) thread.join();
  std::printf("main %lu\nsteps %lu\nhandler %lu\ninner %lu\n", mains.load(), (kSteps + 1) * mains.load(),
              handlers.load(), handlers.load());
  return 0;
}
