/* What the subjects share. Each is a program that ends with 0 if all in it was as it should be, and says what
 * it did:
 *
 *   count NAME N    calls of a traced function, as it counted them itself
 *   tree TEXT       all calls of the first thread, as run_files::tree() writes them
 *   may_lose N, may_end_unpaired N    records, ends of calls whose entry is not known
 *   skipped TEXT    what this machine has not got
 *
 * Built like calls_host, for each row of CMakeLists.txt. Traced are functions named call_*, and main is not:
 * its first argument says how large to be, 1 or more. Another exit code is the line of what was wrong. */
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/host/native/traced.h"

#define EXPECT(what)             \
  do {                           \
    if (!(what)) fail(__LINE__); \
  } while (0)

UNTRACED __attribute__((unused)) static void fail(int line) {
  dprintf(2, "line %d\n", line);
  _exit(line % 250 + 1);
}

struct told {
  const char* name;
  uint64_t calls;
};
#ifdef __cplusplus
extern "C" {
#endif
/* Made by the linker, if somebody counts. */
extern struct told __start_told[] __attribute__((weak)), __stop_told[] __attribute__((weak));
#ifdef __cplusplus
}
#endif

/* First thing in a traced function. */
#define COUNT(function)                                                                           \
  do {                                                                                            \
    static struct told each __attribute__((section("told"), used, aligned(16))) = {#function, 0}; \
    __atomic_fetch_add(&each.calls, 1, __ATOMIC_RELAXED);                                         \
  } while (0)

UNTRACED __attribute__((unused)) static void tell_counts(void) {
  for (const struct told* each = __start_told; each < __stop_told; ++each)
    printf("count %s %lu\n", each->name, (unsigned long)each->calls);
}

UNTRACED __attribute__((unused)) static unsigned scale(int argc, char** argv) {
  return argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 1;
}
