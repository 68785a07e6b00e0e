/* Static functions that call static functions: from -O1 on gcc gives their stacks no alignment, so that
 * return addresses lie in neighbouring words, and hooks meet a stack pointer that is 8 behind a multiple
 * of 16. */
#include "tests/host/native/subjects/subject.h"

APART static uintptr_t call_innermost(uintptr_t x) {
  COUNT(call_innermost);
  KEEP_FRAME;
  return x + (uintptr_t)__builtin_frame_address(0) % 16;
}
APART static uintptr_t call_inner(uintptr_t x) {
  COUNT(call_inner);
  return call_innermost(x) * 2;
}
APART static uintptr_t call_middle(uintptr_t x) {
  COUNT(call_middle);
  return call_inner(x) + call_innermost(x);
}
APART static uintptr_t call_outer(uintptr_t x) {
  COUNT(call_outer);
  return call_middle(x) + call_inner(x);
}
/* The same at every depth: one word more each. */
APART static uintptr_t call_deeper(uintptr_t depth) {
  COUNT(call_deeper);
  if (depth == 0) return call_outer(depth) != 1;
  uintptr_t inside = call_deeper(depth - 1);
  __asm__ volatile(""
                   : "+r"(inside)); /* else it becomes a loop; a barrier for memory would align the stack */
  return inside + 1;
}

UNTRACED int main(int argc, char** argv) {
  const unsigned rounds = 20 * scale(argc, argv);
  for (unsigned i = 0; i < rounds; ++i) EXPECT(call_deeper(i % 50) == i % 50 + 1);
  fputs("tree", stdout);
  for (unsigned i = 0; i < rounds; ++i) {
    fputs(" call_deeper", stdout);
    for (unsigned depth = 0; depth < i % 50; ++depth) fputs("(call_deeper", stdout);
    fputs("(call_outer(call_middle(call_inner(call_innermost) call_innermost) call_inner(call_innermost)))",
          stdout);
    for (unsigned depth = 0; depth < i % 50; ++depth) putchar(')');
  }
  putchar('\n');
  tell_counts();
  return 0;
}
