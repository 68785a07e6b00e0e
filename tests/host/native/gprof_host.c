/* A program that gprof profiles: what its report says of counted() is known. */
#include <stdio.h>

__attribute__((noinline)) static int counted(int i) {
  return i * 3;
}

int main(void) {
  long sum = 0;
  for (int i = 0; i < 1234; ++i) sum += counted(i);
  printf("%ld\n", sum);
  return 0;
}
