/* Functions that are called before any constructor of a library, and after the last destructor. */
#include "tests/host/native/subjects/subject.h"

static unsigned g_before, g_constructed;

CALL unsigned call_down(unsigned depth) {
  const unsigned inside = depth == 0 ? 0 : call_down(depth - 1);
  KEEP_FRAME;
  return inside + 1;
}

UNTRACED static void before(int argc, char** argv, char** environment) {
  (void)argc, (void)argv, (void)environment;
  g_before = call_down(9);
}
__attribute__((section(".preinit_array"), used)) static void (*const kBefore)(int, char**, char**) = before;

__attribute__((constructor(101))) static void construct(void) {
  g_constructed = call_down(19);
}
UNTRACED static void at_exit(void) {
  if (call_down(9) != 10) _exit(3);
}
__attribute__((destructor(101))) static void destroy(void) {
  if (call_down(29) != 30) _exit(2);
}
/* In .fini_array in front of all, so that it runs last of this object. */
UNTRACED static void after(void) {
  if (call_down(9) != 10) _exit(4);
}
__attribute__((section(".fini_array.00001"), used)) static void (*const kAfter)(void) = after;

UNTRACED int main(void) {
  EXPECT(g_before == 10 && g_constructed == 20);
  EXPECT(atexit(at_exit) == 0);
  EXPECT(call_down(4) == 5);
  return 0;
}
