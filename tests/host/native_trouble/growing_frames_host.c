/* A function that takes more stack behind its entry: its exit is called from further down than its entry. */
#include <alloca.h>
#include <string.h>

#include "tests/host/native/traced.h"

CALL int call_inner(char* bytes, int size) {
  memset(bytes, 1, (unsigned)size);
  return bytes[size - 1];
}
CALL int call_growing(int size) {
  return call_inner(alloca((unsigned)size), size) + call_inner(alloca((unsigned)size), size);
}

UNTRACED int main(void) {
  int sum = 0;
  for (int i = 0; i < 100; ++i) sum += call_growing(100 + i);
  return sum == 200 ? 0 : 1;
}
