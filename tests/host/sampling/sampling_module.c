/* A file that is loaded where another was: NAME() is at the same place in each of its builds. */
#include <stdint.h>

void NAME(unsigned long turns);

void NAME(unsigned long turns) {
  for (uint64_t i = 0, value = 1; i < turns; ++i)
    __asm__ volatile("imul $31, %0, %0\n\tadd $7, %0" : "+r"(value));
}
