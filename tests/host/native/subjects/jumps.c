/* longjmp and siglongjmp over functions whose ends nobody sees: from where they were called, from handlers,
 * from a handler's own stack, and out of a stack that is full. */
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "tests/host/native/subjects/subject.h"

static jmp_buf g_back;
static sigjmp_buf g_back_from_handler;

CALL unsigned call_jumper(unsigned depth) {
  COUNT(call_jumper);
  if (depth == 0) longjmp(g_back, 5);
  const unsigned inside = call_jumper(depth - 1);
  KEEP_FRAME;
  return inside + 1;
}
CALL int call_setter(void) {
  COUNT(call_setter);
  const int value = setjmp(g_back);
  if (value == 0) call_jumper(20);
  return value;
}

CALL void call_leaver(void) {
  COUNT(call_leaver);
  siglongjmp(g_back_from_handler, 6);
}
CALL void call_handler(int signal) {
  COUNT(call_handler);
  (void)signal;
  call_leaver();
  KEEP_FRAME;
}
CALL int call_raiser(int depth) {
  COUNT(call_raiser);
  if (depth == 0) raise(SIGUSR1);
  const int inside = call_raiser(depth - 1);
  KEEP_FRAME;
  return inside + 1;
}
CALL int call_interrupted(void) {
  COUNT(call_interrupted);
  const int value = sigsetjmp(g_back_from_handler, 1);
  if (value == 0) call_raiser(10);
  return value;
}

/* More stack than a level takes, its hook included: so the fault comes here, where the level is counted. */
UNTRACED static void touch_below(void) {
  volatile unsigned char room[8192];
  room[0] = 1;
}
CALL unsigned call_endless(volatile unsigned char* above) {
  COUNT(call_endless);
  volatile unsigned char room[2048];
  touch_below();
  room[0] = *above;
  const unsigned inside = call_endless(room);
  KEEP_FRAME;
  return inside + room[0];
}
CALL int call_overflowing(void) {
  COUNT(call_overflowing);
  volatile unsigned char first = 1;
  const int value = sigsetjmp(g_back_from_handler, 1);
  if (value == 0) call_endless(&first);
  return value;
}

UNTRACED static void handle(int number, int flags) {
  struct sigaction action = {0};
  action.sa_handler = call_handler;
  action.sa_flags = flags;
  EXPECT(sigaction(number, &action, NULL) == 0);
}

UNTRACED int main(int argc, char** argv) {
  const unsigned rounds = 20 * scale(argc, argv);
  /* Not in a program's own memory, which may be too low in the address space for a mirror. */
  enum { kSize = 64 << 10 };
  void* const memory = mmap(NULL, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT(memory != MAP_FAILED);
  const stack_t aside = {memory, 0, kSize};
  EXPECT(sigaltstack(&aside, NULL) == 0);
  const struct rlimit small = {1 << 20, RLIM_INFINITY};
  setrlimit(RLIMIT_STACK, &small);
  for (unsigned i = 0; i < rounds; ++i) {
    EXPECT(call_setter() == 5);
    handle(SIGUSR1, 0);
    EXPECT(call_interrupted() == 6);
    handle(SIGUSR1, SA_ONSTACK);
    EXPECT(call_interrupted() == 6);
  }
  handle(SIGSEGV, SA_ONSTACK);
  for (int i = 0; i < 3; ++i) EXPECT(call_overflowing() == 6);
  EXPECT(call_setter() == 5);
  tell_counts();
  return 0;
}
