/* Three hot functions inside each other, for JITs that read LLVM's code. */
#include <stdio.h>
#include <stdlib.h>

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

/* Waits for its stdin's end before its own. */
NOT_INLINED int run(int rounds) {
  unsigned long sum = 0;
  for (int i = 0; i < rounds; ++i) sum += outer((unsigned long)i);
  printf("%lu\n", sum);
  fflush(stdout);
  while (getchar() != EOF) {
  }
  return 3;
}

#ifndef NO_MAIN /* in a JIT that is asked for run() */
int main(int argc, char** argv) {
  return run(argc > 1 ? atoi(argv[1]) : 25);
}
#endif
