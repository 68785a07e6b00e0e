/* A traced function that writes over its own mirror word, as a stray pointer would: deep in others, in a
 * program with more threads. Each wrong result is an exit code of its own. */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#include "agent/hooks/x86_64/mirror_numbers.h"
#include "tests/host/native/traced.h"

static int g_breaks;

CALL int call_breaker(int x) {
  uint64_t* slot = (uint64_t*)__builtin_frame_address(0) + 1;
  if (g_breaks) *(uint64_t*)((uint64_t)slot - JITQUILL_MIRROR_DISTANCE) = 0x123456789;
  g_breaks = 0;
  return x + 1;
}
CALL int call_deep(int depth) {
  const int inside = depth == 0 ? call_breaker(1) : call_deep(depth - 1);
  KEEP_FRAME;
  return inside + 1;
}
CALL static void* call_thread(void* from) {
  for (int i = 0; i < 1000; ++i)
    if (call_deep(20) != 23) _Exit(10);
  return from;
}

UNTRACED int main(void) {
  pthread_t thread;
  if (call_deep(100) != 103) return 11;
  g_breaks = 1;
  if (call_deep(100) != 103) return 12;
  for (int i = 0; i < 10000; ++i)
    if (call_deep(20) != 23) return 13;
  if (pthread_create(&thread, NULL, call_thread, NULL) != 0) return 14;
  pthread_join(thread, NULL);
  return 0;
}
