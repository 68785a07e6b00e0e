/* What killed.c says of itself, in a file that it shares with whoever kills it. */
#pragma once

#include <stdint.h>

struct killed_thread {
  uint64_t begun; /* calls */
  uint64_t done;
};
struct killed_progress {
  struct killed_thread threads[2]; /* of call_one, of call_two */
};
