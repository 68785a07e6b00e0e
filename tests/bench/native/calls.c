#include "tests/bench/native/calls.h"

/* The least that two records cost: two reads of the counter and 16-byte stores, in the function itself. */
#ifdef FLOOR
uint64_t ring[kRingWords];
_Thread_local uint64_t* ring_at = ring;

static inline void record(uint64_t what) {
  uint64_t* at = ring_at;
  uint32_t low, high;
  at[1] = what;
  __asm__ volatile("rdtsc" : "=a"(low), "=d"(high) : : "memory");
  at[0] = (uint64_t)high << 32 | low;
  at += 2;
  ring_at = at == ring + kRingWords ? ring : at;
}
#define RECORD(what) record(what)
#else
#define RECORD(what) ((void)0)
#endif

CALL unsigned fib(unsigned n) {
  RECORD(1);
  unsigned result = n;
  if (n >= 2) {
    const unsigned a = fib(n - 1);
    unsigned b = fib(n - 2);
    __asm__ volatile("" : "+r"(b)); /* else the second call becomes a jump back */
    result = a + b;
  }
  RECORD(2);
  return result;
}

CALL unsigned leaf(unsigned x) {
  RECORD(3);
  __asm__ volatile("" : "+r"(x));
  RECORD(4);
  return x + 1;
}

CALL unsigned leaves(unsigned count) {
  unsigned x = 0;
  for (unsigned i = 0; i < count; ++i) x = leaf(x);
  return x;
}
