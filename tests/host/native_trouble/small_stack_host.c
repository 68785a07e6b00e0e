/* A handler whose calls are the first ones of their thread that are traced, on a signal stack with little
 * room beyond what the kernel puts there. Argument: how much. Below it nothing is mapped. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/host/native/traced.h"

static long g_room;
static volatile int g_sum;

CALL int call_leaf(int x) {
  KEEP_FRAME;
  return x + 1;
}
CALL void call_handler(int signal) {
  g_sum += call_leaf(signal);
  KEEP_FRAME;
}

UNTRACED static void* run(void* unused) {
  enum { kPage = 4096 };
  const size_t size = (size_t)(sysconf(_SC_MINSIGSTKSZ) + g_room);
  const size_t mapped = (size + kPage - 1) / kPage * kPage;
  char* const memory = mmap(NULL, kPage + mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED || mprotect(memory + kPage, mapped, PROT_READ | PROT_WRITE) != 0) exit(2);
  const stack_t stack = {memory + kPage, 0, size};
  if (sigaltstack(&stack, NULL) != 0) exit(3);
  for (int i = 0; i < 3; ++i) pthread_kill(pthread_self(), SIGUSR1);
  return unused;
}

UNTRACED int main(int count, char** words) {
  g_room = count > 1 ? atol(words[1]) : 0;
  struct sigaction action = {0};
  action.sa_handler = call_handler;
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGUSR1, &action, NULL);
  pthread_t thread;
  if (pthread_create(&thread, NULL, run, NULL) != 0 || pthread_join(thread, NULL) != 0) return 4;
  return g_sum == 3 * (SIGUSR1 + 1) ? 0 : 5;
}
