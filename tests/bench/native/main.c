/* Says what a call costs in calls.c: the least and the median of many short runs, in ns, for fib and for a
 * leaf. Argument: how many runs. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tests/bench/native/calls.h"

/* Hooks that are a bare return, without a library. */
#ifdef EMPTY_HOOKS
__asm__(".text\n.globl __fentry__, __return__\n.p2align 4\n__fentry__:\n__return__:\n ret\n");
#endif

/* XRay's flight data recorder has to be begun by the program: by XRAY_OPTIONS alone it records nothing. */
__attribute__((weak)) int __xray_log_select_mode(const char* mode);
__attribute__((weak)) int __xray_log_init_mode(const char* mode, const char* options);
__attribute__((weak)) int __xray_patch(void);

enum { kFib = 22, kFibCalls = 57313, kLeaves = 50000, kWarmUps = 2, kMostRuns = 1000, kInitialized = 2 };

static double now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int compare(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static void measure(unsigned (*function)(unsigned), unsigned argument, unsigned calls, int runs) {
  static double each_ns[kMostRuns];
  for (int i = -kWarmUps; i < runs; ++i) {
    const double start_ns = now_ns();
    volatile unsigned result = function(argument);
    (void)result;
    if (i >= 0) each_ns[i] = (now_ns() - start_ns) / calls;
  }
  qsort(each_ns, (size_t)runs, sizeof each_ns[0], compare);
  printf("%.3f %.3f ", each_ns[0], each_ns[runs / 2]);
}

int main(int argc, char** argv) {
  const int runs = argc > 1 ? atoi(argv[1]) : 0;
  if (runs < 1 || runs > kMostRuns) return 2;
  const char* const fdr = getenv("BENCH_XRAY_FDR");
  if (fdr != NULL && __xray_log_select_mode != NULL) {
    if (__xray_log_select_mode("xray-fdr") != 0 || __xray_log_init_mode("xray-fdr", fdr) != kInitialized)
      return 3;
    __xray_patch();
  }
  measure(fib, kFib, kFibCalls, runs);
  measure(leaves, kLeaves, kLeaves, runs);
  printf("\n");
  return 0;
}
