/* Tail calls that follow each other without end, and a recursion without end: on a stack of which only the
 * second has need, if the compiler makes tail calls. */
#include <pthread.h>
#include <sys/mman.h>

#include "tests/host/native/subjects/subject.h"

enum { kFrame = 256, kSmall = 256 << 10 };

static uintptr_t g_lowest;

UNTRACED static void note_depth(void) {
  const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  if (here < g_lowest) g_lowest = here;
}

CALL unsigned call_even(unsigned left);
CALL unsigned call_odd(unsigned left) {
  COUNT(call_odd);
  note_depth();
  if (left == 0) return 1;
  return call_even(left - 1);
}
CALL unsigned call_even(unsigned left) {
  COUNT(call_even);
  if (left == 0) return 0;
  return call_odd(left - 1);
}
CALL uint64_t call_down(uint64_t depth) {
  COUNT(call_down);
  if (depth == 0) return 0;
  const uint64_t inside = call_down(depth - 1);
  KEEP_FRAME;
  return inside + depth;
}

static unsigned g_length;

UNTRACED static void* run(void* unused) {
  (void)unused;
  const uintptr_t top = (uintptr_t)__builtin_frame_address(0);
  g_lowest = top;
  EXPECT(call_even(g_length) == g_length % 2);
  const int makes_tail_calls = TAIL_CALLS;
  if (makes_tail_calls) EXPECT(top - g_lowest < kSmall);
  EXPECT(call_down(g_length) == (uint64_t)g_length * (g_length + 1) / 2);
  return NULL;
}

UNTRACED int main(int argc, char** argv) {
  g_length = 10000 * scale(argc, argv);
  const size_t size = (size_t)kFrame * g_length + kSmall;
  void* const stack =
      mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  EXPECT(stack != MAP_FAILED);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  EXPECT(pthread_attr_setstack(&attributes, stack, size) == 0);
  pthread_t thread;
  EXPECT(pthread_create(&thread, &attributes, run, NULL) == 0);
  EXPECT(pthread_join(thread, NULL) == 0);
  tell_counts();
  return 0;
}
