// Traced functions on several stacks of one thread. Arguments: what, rounds.
//
//   slots           main calls steps(20): return addresses in neighbouring words
//   fibers-PLACE-HOW   two fibers take turns inside their functions, a(a2) and b(b2), while `scheduler` is
//   open
//       PLACE   apart: mappings of their own;  close: one directly above the other in one mapping;  inside:
//               arrays on the thread's own stack
//       HOW     told: by jitquill_stack();  seen
//   signals-PLACE   main is interrupted twice: handler(inner), and the same left by siglongjmp
//       PLACE   of the signal stack, in one mapping with the thread's: above, below;  inside: an array on it
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <ucontext.h>

#include <cstring>

#include "tests/host/run/told_apart.h"
#include "tests/host/run/traced_code.hpp"

namespace {

constexpr std::size_t kStackSize = std::size_t{64} << 10, kThreadStack = std::size_t{256} << 10;

const TracedCode* code;

void check(bool is_right) {
  if (!is_right) std::abort();
}

std::uint8_t* map_stack(std::size_t size) {
  // A page that nobody may touch, so that neighbours are no one mapping.
  void* const memory = map_told_apart(nullptr, size + 4096);
  check(memory != MAP_FAILED);
  check(mprotect(memory, 4096, PROT_NONE) == 0);
  return static_cast<std::uint8_t*>(memory) + 4096;
}

// ---- Fibers ----

struct Fiber {
  ucontext_t context;
  unsigned function;  // and the next one
  long rounds;
  bool is_done;
};

ucontext_t scheduler;
Fiber fibers[2];
Fiber* running;

std::uint64_t yield(void* = nullptr) {
  return static_cast<std::uint64_t>(swapcontext(&running->context, &scheduler));
}

std::uint64_t outer_body(void* argument) {
  const Fiber& fiber = *static_cast<Fiber*>(argument);
  yield();
  code->call(fiber.function + 1, yield);
  return yield();
}

void run_fiber() {
  Fiber& fiber = *running;
  for (long i = 0; i < fiber.rounds; ++i) code->call(fiber.function, outer_body, &fiber);
  fiber.is_done = true;
}

std::uint64_t schedule(void*) {
  while (!fibers[0].is_done || !fibers[1].is_done) {
    for (Fiber& fiber : fibers) {
      running = &fiber;
      if (!fiber.is_done) check(swapcontext(&scheduler, &fiber.context) == 0);
    }
  }
  return 0;
}

void run_fibers(const char* place, bool are_told, long rounds) {
  code->load({"scheduler", "a", "a2", "b", "b2"});
  std::uint8_t own[2 * kStackSize];
  const bool are_apart = std::strstr(place, "-apart-") != nullptr;
  std::uint8_t* const block = std::strstr(place, "-inside-") != nullptr ? own : map_stack(sizeof own);
  for (unsigned i = 0; i < 2; ++i) {
    Fiber& fiber = fibers[i];
    std::uint8_t* const stack = are_apart ? map_stack(kStackSize) : block + i * kStackSize;
    fiber.function = 1 + 2 * i;
    fiber.rounds = rounds;
    check(getcontext(&fiber.context) == 0);
    fiber.context.uc_stack.ss_sp = stack;
    fiber.context.uc_stack.ss_size = kStackSize;
    fiber.context.uc_link = &scheduler;
    makecontext(&fiber.context, run_fiber, 0);
    if (are_told) check(jitquill_stack(stack, stack + kStackSize) == JITQUILL_OK);
  }
  code->call(0, schedule);
}

// ---- Signal stacks ----

sigjmp_buf back;
volatile bool leaves;

std::uint64_t leave_if_asked(void*) {
  if (leaves) siglongjmp(back, 1);
  return 0;
}

std::uint64_t handler_body(void*) {
  return code->call(2, leave_if_asked);
}

void handle(int) {
  code->call(1, handler_body);
}

std::uint64_t be_interrupted(void*) {
  leaves = false;
  raise(SIGUSR1);
  if (sigsetjmp(back, 1) == 0) {
    leaves = true;
    raise(SIGUSR1);
  }
  return 0;
}

struct SignalJob {
  std::uint8_t* stack;  // null: an array
  long rounds;
};

void* run_signals(void* argument) {
  const SignalJob& job = *static_cast<SignalJob*>(argument);
  std::uint8_t own[kStackSize];
  stack_t stack = {};
  stack.ss_sp = job.stack != nullptr ? job.stack : own;
  stack.ss_size = kStackSize;
  check(sigaltstack(&stack, nullptr) == 0);
  struct sigaction action = {};
  action.sa_handler = handle;
  action.sa_flags = SA_ONSTACK;
  check(sigaction(SIGUSR1, &action, nullptr) == 0);
  for (long i = 0; i < job.rounds; ++i) code->call(0, be_interrupted);
  stack.ss_flags = SS_DISABLE;
  check(sigaltstack(&stack, nullptr) == 0);
  return nullptr;
}

// One mapping: signal stack, thread, signal stack.
void run_in_thread(const char* place, long rounds) {
  code->load({"main", "handler", "inner"});
  std::uint8_t* const block = map_stack(kThreadStack + 2 * kStackSize);
  SignalJob job = {nullptr, rounds};
  if (std::strcmp(place, "below") == 0) job.stack = block;
  if (std::strcmp(place, "above") == 0) job.stack = block + kStackSize + kThreadStack;
  pthread_attr_t attributes;
  pthread_t thread;
  check(pthread_attr_init(&attributes) == 0);
  check(pthread_attr_setstack(&attributes, block + kStackSize, kThreadStack) == 0);
  check(pthread_create(&thread, &attributes, run_signals, &job) == 0);
  check(pthread_join(thread, nullptr) == 0);
  pthread_attr_destroy(&attributes);
}

std::uint64_t steps(void*) {
  code->steps(20);
  return 0;
}

bool starts(const char* text, const char* with) {
  return std::strncmp(text, with, std::strlen(with)) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const char* const what = argv[1];
  const long rounds = std::strtol(argv[2], nullptr, 10);
  const TracedCode traced;
  code = &traced;
  if (std::strcmp(what, "slots") == 0) {
    code->load({"main"}, "steps");
    for (long i = 0; i < rounds; ++i) code->call(0, steps);
  } else if (starts(what, "fibers-")) {
    run_fibers(what, std::strstr(what, "-told") != nullptr, rounds);
  } else if (starts(what, "signals-")) {
    run_in_thread(what + std::strlen("signals-"), rounds);
  } else {
    return 2;
  }
  return 0;
}
