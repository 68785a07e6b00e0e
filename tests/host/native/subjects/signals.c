/* Handlers that make traced calls: of a timer at 10 kHz, which interrupts hooks too, on the thread's stack
 * and on one aside, in two threads; and of SIGTRAP, SIGSEGV and SIGFPE, which belong to the program. */
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#include "tests/host/native/subjects/subject.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

enum { kPeriod_ns = 100000, kThreads = 2 };

static double g_seconds;
static volatile sig_atomic_t g_traps, g_faults, g_divisions;

CALL double call_inner(double x) {
  COUNT(call_inner);
  KEEP_FRAME;
  return x + 0.5;
}
CALL void call_timer(int signal) {
  COUNT(call_timer);
  if (call_inner(signal) != signal + 0.5) fail(__LINE__);
  KEEP_FRAME;
}
CALL long double call_worker(long double x, double y) {
  COUNT(call_worker);
  KEEP_FRAME;
  return x * 2 + y;
}
CALL int call_interrupted(int depth) {
  COUNT(call_interrupted);
  EXPECT(call_worker(depth, 0.25) == 2 * depth + 0.25L);
  const int inside = depth == 0 ? 0 : call_interrupted(depth - 1);
  KEEP_FRAME;
  return inside + 1;
}

/* The three that a program has to do with itself. */
CALL void call_trap_handler(int number, siginfo_t* info, void* context) {
  COUNT(call_trap_handler);
  (void)info;
  (void)context;
  EXPECT(number == SIGTRAP && call_inner(1) == 1.5);
  ++g_traps;
}
CALL int call_trapping(void) {
  COUNT(call_trapping);
  __asm__ volatile("int3");
  return 1;
}
CALL void call_fault_handler(int number, siginfo_t* info, void* context) {
  COUNT(call_fault_handler);
  EXPECT(call_inner(number) == number + 0.5 && info->si_addr == (void*)64);
  ucontext_t* const where = context;
  where->uc_mcontext.gregs[REG_RIP] += 2;
  ++g_faults;
}
CALL int call_faulting(void) {
  COUNT(call_faulting);
  uint64_t address = 64;
  __asm__ volatile(".byte 0x8a, 0x00" : "+a"(address)); /* mov (%rax), %al */
  return address == 64;
}
CALL void call_division_handler(int number, siginfo_t* info, void* context) {
  COUNT(call_division_handler);
  (void)info;
  EXPECT(call_inner(number) == number + 0.5);
  ucontext_t* const where = context;
  where->uc_mcontext.gregs[REG_RIP] += 2;
  ++g_divisions;
}
CALL int call_dividing(void) {
  COUNT(call_dividing);
  uint32_t zero = 0, low = 1, high = 0;
  __asm__ volatile(".byte 0xf7, 0xf1" : "+a"(low), "+d"(high) : "c"(zero)); /* div %ecx */
  return low == 1;
}

UNTRACED static double now_s(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

UNTRACED static void run(int aside) {
  enum { kSize = 64 << 10 };
  void* const memory = mmap(NULL, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT(memory != MAP_FAILED);
  stack_t stack = {memory, aside ? 0 : SS_DISABLE, kSize};
  EXPECT(sigaltstack(&stack, NULL) == 0);
  struct sigevent event;
  memset(&event, 0, sizeof event);
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = SIGPROF;
  event.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
  timer_t timer;
  EXPECT(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
  const struct itimerspec each = {{0, kPeriod_ns}, {0, kPeriod_ns}};
  EXPECT(timer_settime(timer, 0, &each, NULL) == 0);
  for (const double end_s = now_s() + g_seconds; now_s() < end_s;)
    for (int i = 0; i < 20; ++i) EXPECT(call_interrupted(3) == 4);
  timer_delete(timer);
  stack.ss_flags = SS_DISABLE;
  EXPECT(sigaltstack(&stack, NULL) == 0);
}

UNTRACED static void* run_thread(void* unused) {
  (void)unused;
  run(0);
  run(1);
  return NULL;
}

UNTRACED int main(int argc, char** argv) {
  g_seconds = 0.02 * scale(argc, argv);
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = call_timer;
  action.sa_flags = SA_RESTART | SA_ONSTACK;
  EXPECT(sigaction(SIGPROF, &action, NULL) == 0);
  action.sa_flags = SA_SIGINFO;
  action.sa_sigaction = call_trap_handler;
  EXPECT(sigaction(SIGTRAP, &action, NULL) == 0);
  action.sa_sigaction = call_fault_handler;
  EXPECT(sigaction(SIGSEGV, &action, NULL) == 0);
  action.sa_sigaction = call_division_handler;
  EXPECT(sigaction(SIGFPE, &action, NULL) == 0);
  for (int i = 0; i < 10; ++i) EXPECT(call_trapping() == 1 && call_faulting() == 1 && call_dividing() == 1);
  EXPECT(g_traps == 10 && g_faults == 10 && g_divisions == 10);
  pthread_t threads[kThreads];
  for (int i = 0; i < kThreads; ++i) EXPECT(pthread_create(&threads[i], NULL, run_thread, NULL) == 0);
  for (int i = 0; i < kThreads; ++i) EXPECT(pthread_join(threads[i], NULL) == 0);
  EXPECT(sigaction(SIGTRAP, NULL, &action) == 0 && action.sa_sigaction == call_trap_handler);
  tell_counts();
  return 0;
}
