/* Rounds of calls, in which what the patterns do not name stands among what they name: above, below, as the
 * target of a tail call and as its source. Between rounds there is time to find out what nobody wants. */
#include <setjmp.h>
#include <stdlib.h>
#include <unistd.h>

#include "jitquill/jitquill.h"
#include "tests/host/native/traced.h"

enum { kDrained_us = 200 * 1000, kRounds = 3, kHidden = 20000 };

static jmp_buf g_back;

CALL int call_leaf(int x) {
  KEEP_FRAME;
  return x + 1;
}
CALL int hidden_tail(int x) {
  const int inside = call_leaf(x);
  KEEP_FRAME;
  return inside + 1;
}
CALL int call_jumping(int x) {
  return hidden_tail(x + 1);
}
CALL int hidden_jumping(int x) {
  return call_leaf(x + 1);
}
CALL int hidden_leaf(int x) {
  KEEP_FRAME;
  return x + 1;
}
CALL int hidden_outer(int x) {
  const int inside = call_leaf(hidden_leaf(x)) + hidden_jumping(x) + call_jumping(x);
  KEEP_FRAME;
  return inside;
}
CALL int hidden_leaver(int x) {
  if (x == 0) longjmp(g_back, 1);
  KEEP_FRAME;
  return x;
}
CALL int call_left(int x) {
  const int inside = hidden_leaver(x);
  KEEP_FRAME;
  return inside;
}
CALL int call_round(int x) {
  int sum = hidden_outer(x);
  if (setjmp(g_back) == 0) sum += call_left(0);
  sum += call_leaf(x);
  for (int i = 0; i < kHidden; ++i) sum += hidden_leaf(0);
  return sum;
}

UNTRACED static void set_hooks(const char* patterns) {
  usleep(kDrained_us);
  if (jitquill_set_hooks(patterns) != JITQUILL_OK) _Exit(10);
}

UNTRACED int main(int count, char** words) {
  (void)words;
  if (count > 1) return call_round(0) == 8 + kHidden ? 0 : 31;
  for (int i = 0; i < kRounds; ++i) {
    if (call_round(i) != 4 * i + 8 + kHidden) return 11 + i;
    usleep(kDrained_us);
  }
  set_hooks("hidden_leaf");
  for (int i = 0; i < 17; ++i) (void)hidden_leaf(i);
  set_hooks("call_*");
  for (int i = 0; i < kRounds; ++i) {
    if (call_round(i) != 4 * i + 8 + kHidden) return 21 + i;
    usleep(kDrained_us);
  }
  return 0;
}
