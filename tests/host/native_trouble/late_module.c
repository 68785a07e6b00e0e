/* Traced functions of a library that is opened late: as A and as B, which are of one size. */
#include "tests/host/native/traced.h"
#define JOINED(which, name) call_##which##_##name
#define NAMED(which, name) JOINED(which, name)
#define F(name) NAMED(WHICH, name)

CALL int F(leaf)(int x) {
  KEEP_FRAME;
  return x + 1;
}
CALL int F(outer)(int x) {
  const int inside = F(leaf)(x) + F(leaf)(x + 1);
  KEEP_FRAME;
  return inside;
}
CALL double F(first)(double x) {
  return x * 2;
}
__attribute__((constructor)) CALL void F(begin)(void) {
  (void)F(leaf)(1);
}
__attribute__((destructor)) CALL void F(end)(void) {
  (void)F(leaf)(1);
}
