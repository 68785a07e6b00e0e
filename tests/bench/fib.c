/* What fib_vs_c.cpp compares nib with. */
#include <stdint.h>

int64_t fib_in_c(int64_t n);

int64_t fib_in_c(int64_t n) {
  if (n < 2) return n;
  return fib_in_c(n - 1) + fib_in_c(n - 2);
}
