/* A JIT written for OProfile's agent library. What it tells: the first argument. */
#define _DEFAULT_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "opagent.h"

enum { kSize = 48, kSpacing = 256, kFunctions = 2048, kThreads = 4, kGood = 3 };

static op_agent_t agent;
static unsigned char* memory;

static unsigned char* at(unsigned function) {
  return memory + function * kSpacing;
}

static uint64_t address_of(unsigned function) {
  return (uint64_t)(uintptr_t)at(function);
}

static void expect(int is_so, char const* what) {
  if (is_so) return;
  fprintf(stderr, "not so: %s\n", what);
  exit(1);
}

static void tell(char const* name, unsigned function, unsigned char filled_with) {
  memset(at(function), filled_with, kSize);
  expect(op_write_native_code(agent, name, address_of(function), at(function), kSize) == 0, "code");
}

/* Of each call one that is right, and one that OProfile's library refuses. */
static void tell_all(void) {
  char copied[] = "not kept";
  struct debug_line_info one[] = {{address_of(0) + 8, 4, "one.src"},
                                  {address_of(0), 3, "one.src"},
                                  {address_of(0) + 100, 9, "nowhere.src"},
                                  {address_of(0) + 8, 5, "other.src"}};
  struct debug_line_info three[] = {{address_of(3), 7, "three.src"}};
  expect(op_major_version() == 1 && op_minor_version() == 0, "version");
  tell("A::one", 0, 0x10);
  expect(op_write_debug_line_info(agent, at(0), 4, one) == 0, "lines");
  memset(at(1), 0x11, kSize);
  expect(op_write_native_code(agent, "two", address_of(2), at(1), kSize) == 0, "code that lies elsewhere");
  memset(at(3), 0x13, kSize);
  expect(op_write_native_code(agent, "three", address_of(3), NULL, kSize) == 0, "code without bytes");
  expect(op_write_debug_line_info(agent, NULL, 1, three) == 0, "lines of code without bytes");
  tell("gone", 4, 0x14);
  expect(op_unload_native_code(agent, address_of(4)) == 0, "unload");
  tell(copied, 4, 0x15);
  memset(copied, 'x', sizeof copied - 1);
  expect(op_write_debug_line_info(agent, at(4), 0, NULL) == 0, "no lines");
  errno = 0;
  expect(op_write_native_code(NULL, "none", address_of(5), at(5), kSize) == -1 && errno == EINVAL,
         "no agent");
  expect(op_write_debug_line_info(NULL, at(0), 4, one) == -1, "lines of no agent");
  expect(op_unload_native_code(NULL, address_of(0)) == -1, "unload of no agent");
  expect(op_close_agent(NULL) == -1, "close of no agent");
}

/* Pointers and sizes of which nothing may be right, and a sound function at the end. */
static void tell_nonsense(void) {
  uint64_t random = 1;
  struct debug_line_info lines[8];
  unsigned i, k;
  for (i = 0; i < 3000; ++i) {
    uint64_t const places[] = {0, 1, address_of(1), address_of(kFunctions) - 8, ~(uint64_t)0 - 7, 0x7000};
    uint64_t picked[4];
    for (k = 0; k < 4; ++k) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      picked[k] = places[random >> 33 & 7 ? (random >> 40) % 6 : 2] + (random >> 36 & 3);
    }
    for (k = 0; k < 8; ++k) {
      lines[k].vma = (unsigned long)picked[k % 4];
      lines[k].lineno = (unsigned)(random >> (8 + k));
      lines[k].filename = (char const*)(uintptr_t)picked[3];
    }
    op_write_native_code(agent, (char const*)(uintptr_t)(picked[0] | 1), picked[1],
                         (void const*)(uintptr_t)picked[2],
                         (unsigned)(random >> 20 & 15 ? random >> 58 : random >> 32));
    op_write_debug_line_info(agent, (void const*)(uintptr_t)picked[2], random >> 50 & 7, lines);
    op_write_debug_line_info(agent, (void const*)(uintptr_t)picked[2], random >> 30,
                             (struct debug_line_info const*)(uintptr_t)picked[3]);
    op_unload_native_code(agent, picked[1]);
  }
  tell("sound", 9, 0x19);
}

static void* tell_hundreds(void* number) {
  unsigned const first = *(unsigned const*)number;
  unsigned i;
  for (i = first; i < first + 300; ++i) {
    char name[16];
    struct debug_line_info line = {address_of(i), i, "thread.src"};
    snprintf(name, sizeof name, "fn_%u", i);
    tell(name, i, (unsigned char)i);
    expect(op_write_debug_line_info(agent, at(i), 1, &line) == 0, "lines");
  }
  return NULL;
}

static void tell_from_threads(void) {
  pthread_t threads[kThreads];
  unsigned first[kThreads];
  unsigned i;
  for (i = 0; i < kThreads; ++i) {
    first[i] = i * 400;
    expect(pthread_create(&threads[i], NULL, tell_hundreds, &first[i]) == 0, "thread");
  }
  for (i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
}

/* mov ecx, 20000000; l: dec ecx; jnz l; ret */
static void work(void) {
  static unsigned char const loop[] = {0xb9, 0x00, 0x2d, 0x31, 0x01, 0xff, 0xc9, 0x75, 0xfc, 0xc3};
  struct timespec start, now;
  unsigned i;
  for (i = 0; i < 2; ++i) {
    memcpy(at(i), loop, sizeof loop);
    op_write_native_code(agent, i == 0 ? "op_hot" : "op_warm", address_of(i), at(i), sizeof loop);
  }
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
  do {
    for (i = 0; i < 2; ++i) {
      void (*function)(void);
      void* code = at(i);
      memcpy(&function, &code, sizeof function);
      function();
    }
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  } while ((now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1000000 < 300);
}

int main(int argc, char** argv) {
  char const* const what = argc == 2 ? argv[1] : "";
  memory = mmap(NULL, (kFunctions + 1) * kSpacing, PROT_READ | PROT_WRITE | PROT_EXEC,
                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  agent = op_open_agent();
  expect(memory != MAP_FAILED && agent != NULL, "start");
  if (strcmp(what, "all") == 0) tell_all();
  if (strcmp(what, "nonsense") == 0) tell_nonsense();
  if (strcmp(what, "threads") == 0) tell_from_threads();
  if (strcmp(what, "work") == 0) work();
  expect(op_close_agent(agent) == 0, "close");
  return kGood;
}
