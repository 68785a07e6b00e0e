/* Functions that end in the call of a function that does not return a value: compilers jump there, and to
 * what tells of their ends. Recursions too, where who ends and who called it are one function. */
#include "tests/host/native/subjects/subject.h"

CALL void call_last(unsigned x) {
  COUNT(call_last);
  __asm__ volatile("" : : "r"(x) : "memory");
}
CALL void call_recursive(unsigned depth) {
  COUNT(call_recursive);
  if (depth != 0) call_recursive(depth - 1);
  call_last(depth);
  KEEP_FRAME;
}
/* With arguments on the stack. */
CALL void call_many(unsigned depth, long a, long b, long c, long d, long e, long f, long g) {
  COUNT(call_many);
  if (depth != 0) call_many(depth - 1, b, c, d, e, f, g, a);
  EXPECT(a + b + c + d + e + f + g == 28);
  call_last(depth);
  KEEP_FRAME;
}
CALL unsigned call_value(unsigned depth) {
  COUNT(call_value);
  unsigned inside = depth == 0 ? 0 : call_value(depth - 1);
  __asm__ volatile("" : "+r"(inside));
  call_last(depth);
  return inside + 1;
}

UNTRACED static void tell_recursion(const char* name, unsigned depth) {
  for (unsigned i = 0; i <= depth; ++i) printf(i == 0 ? " %s(" : "%s(", name);
  for (unsigned i = 0; i <= depth; ++i) fputs(i == 0 ? "call_last)" : " call_last)", stdout);
}

UNTRACED int main(int argc, char** argv) {
  const unsigned rounds = 10 * scale(argc, argv);
  for (unsigned i = 0; i < rounds; ++i) {
    call_recursive(i % 20);
    call_many(i % 20, 1, 2, 3, 4, 5, 6, 7);
    EXPECT(call_value(i % 20) == i % 20 + 1);
  }
  fputs("tree", stdout);
  for (unsigned i = 0; i < rounds; ++i) {
    tell_recursion("call_recursive", i % 20);
    tell_recursion("call_many", i % 20);
    tell_recursion("call_value", i % 20);
  }
  putchar('\n');
  tell_counts();
  return 0;
}
