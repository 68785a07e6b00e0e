/* Compiled with debug information, it is what a JIT's compiler hands to debuggers. The tests know its lines.
 */

static volatile int seen;

int sample_add(int one, int other) {
  seen = one;
  return one + other;
}

int sample_loop(int count) {
  int sum = 0;
  for (int i = 0; i < count; ++i) {
    sum += sample_add(i, sum);
  }
  return sum;
}
