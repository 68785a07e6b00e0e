/* Opened by late_host.c when it runs. */
__attribute__((noinline)) int late_other(int x) {
  __asm__ volatile("");
  return x * 2;
}
__attribute__((noinline)) int late_inner(int x) {
  __asm__ volatile("");
  return x + 1;
}
int late_entry(int x) {
  const int inside = late_inner(x) + late_other(x);
  __asm__ volatile("" ::: "memory");
  return inside + 1;
}
