/* Arguments and results of every class, in functions that are traced: each must arrive. Built like
 * calls_host. The exit code is the line of the first that did not. */
#include <complex.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include "tests/host/native/traced.h"

#define EXPECT(what)             \
  do {                           \
    if (!(what)) fail(__LINE__); \
  } while (0)

UNTRACED static void fail(int line) {
  _Exit(line % 250 + 1);
}

CALL int64_t integers(int64_t a, int64_t b, int64_t c, int64_t d, int64_t e, int64_t f, int64_t g,
                      int64_t h) {
  return a + 10 * b + 100 * c + 1000 * d + 10000 * e + 100000 * f + 1000000 * g + 10000000 * h;
}
CALL double doubles(double a, double b, double c, double d, double e, double f, double g, double h,
                    double i) {
  return a + 10 * b + 100 * c + 1000 * d + 10000 * e + 100000 * f + 1000000 * g + 10000000 * h +
         100000000 * i;
}
CALL long double x87(long double a) {
  return a * 3;
}
CALL complex long double x87_pair(long double a) {
  return a + 2 * a * I;
}
typedef struct {
  int64_t a, b;
} in_rax_rdx;
typedef struct {
  double a, b;
} in_xmm;
typedef struct {
  int64_t a;
  double b;
} in_both;
typedef struct {
  int64_t a[5];
} in_memory;
CALL in_rax_rdx pair(int64_t a) {
  return (in_rax_rdx){a, a + 1};
}
CALL in_xmm xmm_pair(double a) {
  return (in_xmm){a, a + 1};
}
CALL in_both both(int64_t a, double b) {
  return (in_both){a + 1, b + 1};
}
CALL in_memory memory(int64_t a) {
  return (in_memory){{a, a + 1, a + 2, a + 3, a + 4}};
}
CALL double variadic(int count, ...) {
  va_list all;
  double sum = 0;
  va_start(all, count);
  for (int i = 0; i < count; ++i) sum += va_arg(all, double);
  va_end(all);
  return sum;
}
CALL int aligned(int at) {
  _Alignas(64) volatile char bytes[128] = {0};
  EXPECT((uintptr_t)bytes % 64 == 0);
  bytes[at] = 5;
  return bytes[at] + at;
}
#ifndef __clang__
CALL int nested(int x) {
  int from_outside = x * 7;
  __attribute__((noinline)) int inner(int y) {
    return from_outside + y;
  }
  return inner(1);
}
#endif

typedef double wide __attribute__((vector_size(64)));
__attribute__((target("avx512f"))) CALL void zmm_inner(const wide* from, wide* to, wide value) {
  *to = *from + value;
}
__attribute__((target("avx512f"))) UNTRACED static void zmm(void) {
  wide a, b, sum;
  for (int i = 0; i < 8; ++i) {
    a[i] = i;
    b[i] = 100 * i;
  }
  zmm_inner(&a, &sum, b);
  for (int i = 0; i < 8; ++i) EXPECT(sum[i] == 101 * i);
}

UNTRACED static void all(void) {
  EXPECT(doubles(1, 2, 3, 4, 5, 6, 7, 8, 9) == 987654321);
  EXPECT(integers(1, 2, 3, 4, 5, 6, 7, 8) == 87654321);
  EXPECT(x87(1.5L) == 4.5L);
  EXPECT(creall(x87_pair(1.5L)) == 1.5L && cimagl(x87_pair(1.5L)) == 3);
  EXPECT(pair(5).a == 5 && pair(5).b == 6);
  EXPECT(xmm_pair(5).a == 5 && xmm_pair(5).b == 6);
  EXPECT(both(5, 6).a == 6 && both(5, 6).b == 7);
  EXPECT(memory(5).a[0] == 5 && memory(5).a[4] == 9);
  EXPECT(variadic(9, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0) == 45);
  EXPECT(variadic(0) == 0);
  EXPECT(aligned(70) == 75);
#ifndef __clang__
  EXPECT(nested(3) == 22);
#endif
  if (__builtin_cpu_supports("avx512f")) zmm();
}

/* Each class is some thread's first traced call once. */
UNTRACED static void* first(void* which) {
  switch ((intptr_t)which) {
    case 0:
      EXPECT(doubles(1, 2, 3, 4, 5, 6, 7, 8, 9) == 987654321);
      break;
    case 1:
      EXPECT(integers(1, 2, 3, 4, 5, 6, 7, 8) == 87654321);
      break;
    case 2:
      EXPECT(x87(1.5L) == 4.5L);
      break;
    case 3:
      EXPECT(variadic(2, 1.0, 2.0) == 3);
      break;
    case 4:
      EXPECT(memory(5).a[4] == 9);
      break;
    case 5:
      EXPECT(xmm_pair(5).b == 6);
      break;
    default:
      if (__builtin_cpu_supports("avx512f")) zmm();
  }
  all();
  return NULL;
}

UNTRACED int main(void) {
  all();
  for (intptr_t i = 0; i < 7; ++i) {
    pthread_t thread;
    EXPECT(pthread_create(&thread, NULL, first, (void*)i) == 0);
    pthread_join(thread, NULL);
  }
  return 0;
}
