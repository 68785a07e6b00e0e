/* What bench-native calls: calls.c, compiled each way that is compared. */
#pragma once

#include <stdint.h>

#ifdef __clang__
#define CALL __attribute__((noinline))
#else
#define CALL __attribute__((noinline, noclone))
#endif

CALL unsigned fib(unsigned n);
CALL unsigned leaf(unsigned x);
CALL unsigned leaves(unsigned count);

/* Of the floor only: two words a record, round and round in a mebibyte. */
enum { kRingWords = 1 << 17 };
extern uint64_t ring[kRingWords];
extern _Thread_local uint64_t* ring_at;
