/* Opened by late_host.c when it runs. */
#include "tests/host/native/traced.h"

APART int late_other(int x) {
  KEEP_FRAME;
  return x * 2;
}
APART int late_inner(int x) {
  KEEP_FRAME;
  return x + 1;
}
int late_entry(int x) {
  const int inside = late_inner(x) + late_other(x);
  KEEP_FRAME;
  return inside + 1;
}
