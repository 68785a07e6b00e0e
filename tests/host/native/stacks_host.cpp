// Functions whose callers are known: each call of `walked` says who had called, from its own book, and
// whether all of the stack can be had. Compiled as the targets say.
#include <pthread.h>
#include <signal.h>
#include <ucontext.h>

#include <cstdio>
#include <cstdlib>

#include "tests/host/native/traced.h"
#include "tests/host/run/told_apart.h"

namespace {

constexpr int kMost = 4096;
thread_local const char* g_open[kMost];
thread_local int g_depth = 0;
thread_local int g_first = 0;  // what is below is on another stack
bool g_is_whole = true;

// Who is open. A frame that an exception removes is taken out as others are.
struct Open {
  UNTRACED explicit Open(const char* name) { g_open[g_depth++] = name; }
  UNTRACED ~Open() { --g_depth; }
};

UNTRACED void say() {
  std::printf("%s", g_is_whole ? "whole" : "partial");
  for (int i = g_depth; i-- > g_first;) std::printf(" %s", g_open[i]);
  std::printf("\n");
}

}  // namespace

#define OPEN const Open open(__func__)

CALL void walked() {
  say();
  KEEP_FRAME;
}
CALL int with_large_frame(int x) {
  OPEN;
  volatile char room[1'500];
  room[x] = 1;
  walked();
  return room[x];
}
CALL int recursive(int depth) {
  OPEN;
  const int inside = depth == 0 ? with_large_frame(3) : recursive(depth - 1);
  KEEP_FRAME;
  return inside + 1;
}
CALL int compares(const void* a, const void* b) {
  OPEN;
  walked();
  KEEP_FRAME;
  return *static_cast<const int*>(a) - *static_cast<const int*>(b);
}
CALL void sorts() {
  OPEN;
  int two[] = {2, 1};
  std::qsort(two, 2, sizeof two[0], compares);
  KEEP_FRAME;
}
CALL int thrower(int depth) {
  OPEN;
  if (depth == 0) throw 7;
  const int inside = thrower(depth - 1);
  KEEP_FRAME;
  return inside + 1;
}
CALL void catcher() {
  OPEN;
  try {
    (void)thrower(3);
  } catch (int) {
    walked();
  }
  walked();
  KEEP_FRAME;
}
CALL void on_signal(int) {
  OPEN;
  walked();
  KEEP_FRAME;
}
CALL void raises() {
  OPEN;
  raise(SIGUSR1);
  KEEP_FRAME;
}
CALL void raises_elsewhere() {
  OPEN;
  alignas(16) static char other[64 * 1024];
  stack_t stack{};
  stack.ss_sp = other;
  stack.ss_size = sizeof other;
  sigaltstack(&stack, nullptr);
  g_first = g_depth;
  g_is_whole = false;  // what it interrupted is on another stack
  raise(SIGUSR2);
  g_is_whole = true;
  g_first = 0;
  KEEP_FRAME;
}
CALL void* in_thread(void*) {
  OPEN;
  walked();
  (void)recursive(2);
  KEEP_FRAME;
  return nullptr;
}
namespace {
ucontext_t g_caller, g_fiber;
}
CALL void in_fiber() {
  OPEN;
  walked();
  KEEP_FRAME;
}
CALL void switches() {
  OPEN;
  constexpr std::size_t kSize = 64 * 1024;
  static void* const other = map_told_apart(nullptr, kSize);
  if (other == MAP_FAILED) std::abort();
  getcontext(&g_fiber);
  g_fiber.uc_stack.ss_sp = other;
  g_fiber.uc_stack.ss_size = kSize;
  g_fiber.uc_link = &g_caller;
  makecontext(&g_fiber, in_fiber, 0);
  g_first = g_depth;
  g_is_whole = false;  // glibc 2.36 says to nobody that a fiber begins there
  swapcontext(&g_caller, &g_fiber);
  g_is_whole = true;
  g_first = 0;
  KEEP_FRAME;
}

int main() {
  OPEN;
  static char room[1 << 16];
  std::setvbuf(stdout, room, _IOFBF, sizeof room);
  walked();
  (void)recursive(5);
  sorts();
  catcher();
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigaction(SIGUSR1, &action, nullptr);
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGUSR2, &action, nullptr);
  raises();
  raises_elsewhere();
  switches();
  pthread_t thread;
  pthread_create(&thread, nullptr, in_thread, nullptr);
  pthread_join(thread, nullptr);
  g_is_whole = false;
  (void)recursive(1'000);
  std::fflush(stdout);
  return 0;
}
