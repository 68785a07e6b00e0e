/* Three hot functions inside each other, for JITs that read LLVM's code. */
#include <stdio.h>

#define NOT_INLINED __attribute__((noinline))

NOT_INLINED unsigned long inner(unsigned long n) {
  unsigned long sum = n;
  for (unsigned long i = 0; i < 100000; ++i) { /* the loop's first line */
    sum = sum * 1103515245u + 12345u;
  } /* the loop's last line */
  return sum;
}

NOT_INLINED unsigned long middle(unsigned long n) {
  unsigned long sum = 0;
  for (unsigned long i = 0; i < 10; ++i) sum += inner(n + i);
  return sum;
}

NOT_INLINED unsigned long outer(unsigned long n) {
  unsigned long sum = 0;
  for (unsigned long i = 0; i < 10; ++i) sum += middle(n * i);
  return sum;
}

int main(void) {
  unsigned long sum = 0;
  for (unsigned long i = 0; i < 25; ++i) sum += outer(i);
  printf("%lu\n", sum);
  return 3;
}
