/* Arguments and results of every class of System V's: each arrives whole, first in a fresh thread, whose
 * first traced call is the one that does most. Beside values_host.c: vectors in their full width, all eight
 * of them, what is passed on the stack behind them, and what comes back in two registers of two kinds. */
#include <complex.h>
#include <pthread.h>
#include <stdarg.h>
#include <string.h>

#include "tests/host/native/subjects/subject.h"

typedef double ymm __attribute__((vector_size(32)));
typedef double zmm __attribute__((vector_size(64)));
typedef __int128 wide;
#define AVX2 __attribute__((target("avx2")))
#define AVX512 __attribute__((target("avx512f")))

/* Of each vector another, and of each of its elements. */
UNTRACED static double element(int vector, int at) {
  return 1000 * vector + 7 * at + 1;
}
UNTRACED static void fill(void* vectors, int count, int elements) {
  double* const to = vectors;
  for (int i = 0; i < count * elements; ++i) to[i] = element(i / elements, i % elements);
}
/* Times 1, 2, ... so that two that changed places are seen. */
UNTRACED static void expect_weighted(const void* sum, int count, int elements) {
  for (int at = 0; at < elements; ++at) {
    double expected = 0;
    for (int i = 0; i < count; ++i) expected += (i + 1) * element(i, at);
    EXPECT(((const double*)sum)[at] == expected);
  }
}

#define EIGHT(v) v a, v b, v c, v d, v e, v f, v g, v h
#define WEIGHTED (a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h)
#define EIGHT_OF(v) v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7]

AVX2 CALL ymm call_eight_ymm(EIGHT(ymm)) {
  COUNT(call_eight_ymm);
  return WEIGHTED;
}
AVX2 UNTRACED static void eight_ymm(void) {
  ymm given[8], sum;
  fill(given, 8, 4);
  sum = call_eight_ymm(EIGHT_OF(given));
  expect_weighted(&sum, 8, 4);
}

AVX512 CALL zmm call_eight_zmm(EIGHT(zmm)) {
  COUNT(call_eight_zmm);
  return WEIGHTED;
}
AVX512 UNTRACED static void eight_zmm(void) {
  zmm given[8], sum;
  fill(given, 8, 8);
  sum = call_eight_zmm(EIGHT_OF(given));
  expect_weighted(&sum, 8, 8);
}

/* Each kind has more than its registers: the ninth vector, the ninth double and the seventh number lie on the
 * stack, the first of them aligned. */
AVX512 CALL zmm call_mixed(zmm a, double x, int64_t i, zmm b, double y, int32_t j, zmm c, int64_t k, zmm d,
                           int64_t l, zmm e, int64_t m, zmm f, int64_t n, zmm on_stack, int64_t o, double z) {
  COUNT(call_mixed);
  EXPECT(i == 11 && j == -12 && k == 13 && l == -14 && m == 15 && n == -16 && o == 17);
  EXPECT(x == 0.5 && y == 1.5 && z == 2.5);
  return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * on_stack;
}
AVX512 UNTRACED static void mixed(void) {
  zmm v[7], sum;
  fill(v, 7, 8);
  sum = call_mixed(v[0], 0.5, 11, v[1], 1.5, -12, v[2], 13, v[3], -14, v[4], 15, v[5], -16, v[6], 17, 2.5);
  expect_weighted(&sum, 7, 8);
}

CALL _Complex long double call_x87(_Complex long double a, long double b) {
  COUNT(call_x87);
  return a * b; /* st0, st1 */
}
UNTRACED static void x87(void) {
  const _Complex long double found = call_x87(1.25L + 0x1p-60L + 2.5L * I, 3);
  EXPECT(creall(found) == 3.75L + 0x3p-60L && cimagl(found) == 7.5L);
}

CALL wide call_int128(wide a, int64_t b, wide c, int64_t d, wide on_stack) {
  COUNT(call_int128);
  return a + 3 * c + 5 * on_stack + 7 * b + 11 * d; /* rax, rdx */
}
UNTRACED static void int128(void) {
  const wide high = (wide)0x123456789abcdef << 64;
  EXPECT(call_int128(high + 1, 2, 2 * high + 3, 4, -high + 5) == 2 * high + 93);
}

typedef struct {
  double a, b;
} two_doubles;
typedef struct {
  double a;
  int64_t b;
} double_and_int;
typedef struct {
  int64_t a;
  double b;
} int_and_double;
typedef struct {
  double a[5];
} in_memory;
CALL two_doubles call_two_doubles(two_doubles a, double b) {
  COUNT(call_two_doubles);
  return (two_doubles){a.b + b, a.a + b}; /* xmm0, xmm1 */
}
CALL double_and_int call_double_and_int(double_and_int a, int_and_double b) {
  COUNT(call_double_and_int);
  return (double_and_int){a.a + b.b, a.b + b.a}; /* xmm0, rax */
}
CALL int_and_double call_int_and_double(int_and_double a, double_and_int b) {
  COUNT(call_int_and_double);
  return (int_and_double){a.a - b.b, a.b - b.a}; /* rax, xmm0 */
}
CALL in_memory call_memory(in_memory a, double b) {
  COUNT(call_memory);
  for (int i = 0; i < 5; ++i) a.a[i] *= b;
  return a; /* where rdi said, and rax */
}
UNTRACED static void structs(void) {
  const two_doubles doubles = call_two_doubles((two_doubles){1, 2}, 0.5);
  EXPECT(doubles.a == 2.5 && doubles.b == 1.5);
  const double_and_int first = call_double_and_int((double_and_int){0.25, 40}, (int_and_double){2, 0.5});
  EXPECT(first.a == 0.75 && first.b == 42);
  const int_and_double second = call_int_and_double((int_and_double){40, 0.25}, (double_and_int){0.5, 2});
  EXPECT(second.a == 38 && second.b == -0.25);
  const in_memory memory = call_memory((in_memory){{1, 2, 3, 4, 5}}, 1.5);
  for (int i = 0; i < 5; ++i) EXPECT(memory.a[i] == 1.5 * (i + 1));
}

/* al says that there are eight; the ninth is on the stack. */
CALL double call_variadic(int count, ...) {
  va_list all;
  double sum = 0;
  COUNT(call_variadic);
  va_start(all, count);
  for (int i = 0; i < count; ++i) sum += (i + 1) * va_arg(all, double) + (double)va_arg(all, int64_t);
  va_end(all);
  return sum;
}
UNTRACED static void variadic(void) {
  const int64_t ten = 10;
  EXPECT(call_variadic(8, 1.0, ten, 2.0, ten, 3.0, ten, 4.0, ten, 5.0, ten, 6.0, ten, 7.0, ten, 8.0, ten) ==
         284);
  EXPECT(call_variadic(9, 1.0, ten, 2.0, ten, 3.0, ten, 4.0, ten, 5.0, ten, 6.0, ten, 7.0, ten, 8.0, ten, 9.0,
                       ten) == 375);
  EXPECT(call_variadic(0) == 0);
}

UNTRACED static void none(void) {}
typedef void class_of_values(void);
static class_of_values* classes[] = {x87, int128, structs, variadic, none, none, none};
enum { kYmm = 4, kZmm, kMixed, kClasses };

UNTRACED static void find_vectors(void) {
  if (__builtin_cpu_supports("avx2"))
    classes[kYmm] = eight_ymm;
  else
    printf("skipped the CPU has no AVX2\n");
  if (__builtin_cpu_supports("avx512f")) {
    classes[kZmm] = eight_zmm;
    classes[kMixed] = mixed;
  } else {
    printf("skipped the CPU has no AVX-512\n");
  }
}

UNTRACED static void* run(void* first) {
  for (unsigned i = 0; i < kClasses; ++i) classes[((uintptr_t)first + i) % kClasses]();
  return NULL;
}

UNTRACED int main(int argc, char** argv) {
  find_vectors();
  for (uintptr_t i = 0; i < 3 * kClasses * scale(argc, argv); ++i) {
    pthread_t thread;
    EXPECT(pthread_create(&thread, NULL, run, (void*)i) == 0);
    EXPECT(pthread_join(thread, NULL) == 0);
  }
  run(NULL);
  tell_counts();
  return 0;
}
