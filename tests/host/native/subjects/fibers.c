/* Fibers that take turns in the middle of their functions: by swapcontext and by a switch of their own, on
 * stacks that are freed and come back for others. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "tests/host/native/subjects/subject.h"
#include "tests/host/run/told_apart.h"

enum { kStackSize = 64 << 10, kTurns = 5 };

/* The switch: saves what a callee keeps, changes stacks. */
void switch_stacks(void** from, void* to);
__asm__(
    ".text\n.type switch_stacks, @function\nswitch_stacks:\n"
    " push %rbp\n push %rbx\n push %r12\n push %r13\n push %r14\n push %r15\n"
    " mov %rsp, (%rdi)\n mov %rsi, %rsp\n"
    " pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbx\n pop %rbp\n ret\n"
    ".size switch_stacks, . - switch_stacks\n");

static ucontext_t g_main_context, g_fiber_context;
static void *g_main_stack_pointer, *g_fiber_stack_pointer;
static int g_by_hand;
static unsigned g_turns;

UNTRACED static void leave_fiber(void) {
  if (g_by_hand)
    switch_stacks(&g_fiber_stack_pointer, g_main_stack_pointer);
  else
    EXPECT(swapcontext(&g_fiber_context, &g_main_context) == 0);
}
UNTRACED static void enter_fiber(void) {
  if (g_by_hand)
    switch_stacks(&g_main_stack_pointer, g_fiber_stack_pointer);
  else
    EXPECT(swapcontext(&g_main_context, &g_fiber_context) == 0);
}

CALL unsigned call_in_fiber(unsigned depth) {
  COUNT(call_in_fiber);
  if (depth == 0) {
    ++g_turns;
    leave_fiber();
    return 1;
  }
  const unsigned inside = call_in_fiber(depth - 1);
  KEEP_FRAME;
  return inside + 1;
}
CALL unsigned call_in_main(unsigned depth) {
  COUNT(call_in_main);
  const unsigned inside = depth == 0 ? 0 : call_in_main(depth - 1);
  KEEP_FRAME;
  return inside + 1;
}

UNTRACED static void run_fiber(void) {
  for (int i = 0; i < kTurns; ++i) EXPECT(call_in_fiber(10) == 11);
  leave_fiber();
  fail(__LINE__);
}

UNTRACED static unsigned char* make_fiber(unsigned char* place) {
  unsigned char* const stack = map_told_apart(place, kStackSize);
  EXPECT(stack != MAP_FAILED);
  EXPECT(getcontext(&g_fiber_context) == 0);
  g_fiber_context.uc_stack.ss_sp = stack;
  g_fiber_context.uc_stack.ss_size = kStackSize;
  g_fiber_context.uc_link = &g_main_context;
  makecontext(&g_fiber_context, run_fiber, 0);
  /* As the switch finds a stack that left: six registers, where to go on, and the alignment of an entry. */
  void** top = (void**)(stack + kStackSize) - 2;
  *--top = (void*)run_fiber;
  top -= 6;
  memset(top, 0, 6 * sizeof *top);
  g_fiber_stack_pointer = top;
  return stack;
}

/* One fiber to its end, and one that is left in the middle: its stack goes all the same. */
UNTRACED static unsigned char* run_round(unsigned char* place, int turns) {
  unsigned char* const stack = make_fiber(place);
  for (int i = 0; i < turns; ++i) {
    enter_fiber();
    EXPECT(call_in_main(4) == 5);
  }
  EXPECT(munmap(stack, kStackSize) == 0);
  return stack;
}

UNTRACED int main(int argc, char** argv) {
  const unsigned rounds = 20 * scale(argc, argv);
  unsigned char* place = NULL;
  for (unsigned i = 0; i < rounds; ++i) {
    g_by_hand = i % 2 == 1;
    g_turns = 0;
    place = run_round(place, kTurns + 1);
    EXPECT(g_turns == kTurns);
    place = run_round(place, 2);
  }
  tell_counts();
  return 0;
}
