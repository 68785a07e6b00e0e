/* What loaded.c opens. Its constructor and destructor are traced too. */
#include "tests/host/native/subjects/subject.h"

APART static int call_in_library(int x) {
  KEEP_FRAME;
  return x + 1;
}
CALL int call_of_library(int x) {
  const int inside = call_in_library(x);
  KEEP_FRAME;
  return inside + 2 * x + 2;
}
static int g_made;
__attribute__((constructor)) static void make(void) {
  ++g_made;
}
__attribute__((destructor)) static void end(void) {
  if (g_made != 1) fail(__LINE__);
}
