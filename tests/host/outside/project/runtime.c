/* A runtime in C99 that compiles three functions, announces and runs them: add_1, add_2 and add_3, each with
 * a line and a frame. Prints what they compute, which an agent may not change. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include <jitquill/events.h>

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define SPACING 512
#define FUNCTIONS 3

typedef int (*function)(int);

/* lea eax, [rdi + n]; ret */
static void compile(unsigned char* at, unsigned char n) {
  const unsigned char code[] = {0x8D, 0x47, n, 0xC3};
  memcpy(at, code, sizeof code);
}

static jitquill_status announce(const unsigned char* at, int n) {
  const jitquill_line line = {0, (uint32_t)n, 1, 0, NULL};
  char name[16];
  jitquill_code code;
  memset(&code, 0, sizeof code);
  snprintf(name, sizeof name, "add_%d", n);
  code.struct_size = (uint32_t)sizeof code;
  code.addr = at;
  code.size = 4;
  code.name = name;
  code.file = "/home/somebody/adders.src";
  code.lines = &line;
  code.line_count = 1;
  code.unwinding = JITQUILL_UNWINDING_FRAME_EVENTS;
  code.room = SPACING - code.size;
  return jitquill_code_loaded(&code, NULL);
}

static int call(const unsigned char* at, int argument) {
  function entry;
  memcpy(&entry, &at, sizeof entry); /* ISO C has no cast from object to function pointers */
  return entry(argument);
}

int main(void) {
  int result = 0;
  unsigned char n;
  unsigned char* memory = (unsigned char*)mmap(NULL, SPACING * FUNCTIONS, PROT_READ | PROT_WRITE,
                                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 1;
  for (n = 0; n < FUNCTIONS; ++n) compile(memory + n * SPACING, (unsigned char)(n + 1));
  if (mprotect(memory, SPACING * FUNCTIONS, PROT_READ | PROT_EXEC) != 0) return 1;
  for (n = 0; n < FUNCTIONS; ++n) {
    const jitquill_status status = announce(memory + n * SPACING, n + 1);
    if (status != JITQUILL_OK && status != JITQUILL_NO_AGENT) {
      fprintf(stderr, "%s\n", jitquill_status_text(status));
      return 1;
    }
  }
  (void)jitquill_marker("compiled");
  for (n = 0; n < FUNCTIONS; ++n) result = call(memory + n * SPACING, result);
  for (n = 0; n < FUNCTIONS; ++n) (void)jitquill_code_unloaded(memory + n * SPACING);
  printf("result %d\n", result);
  return 0;
}
