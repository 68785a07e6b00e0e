/* Threads that come and go while tracing is switched on and off: arguments and results of each arrive. What
 * is counted is by chance; so it says no counts. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "tests/host/native/subjects/subject.h"

enum { kAtATime = 4 };

static atomic_int g_is_over;

CALL double call_first(double a, double b, long double c) {
  KEEP_FRAME;
  return a + b * 2 + (double)c * 4;
}
CALL int call_deep(int depth) {
  const int inside = depth == 0 ? 0 : call_deep(depth - 1);
  KEEP_FRAME;
  return inside + (call_first(depth, 1, 1) == depth + 6);
}

UNTRACED static void* run(void* unused) {
  EXPECT(call_first(1, 2, 3) == 17);
  for (int i = 0; i < 20; ++i) EXPECT(call_deep(30) == 31);
  return unused;
}

/* Nothing without an agent that traces. */
UNTRACED static void* toggle(void* unused) {
  const char* const options = getenv("JITQUILL_OPTIONS");
  if (options == NULL || strstr(options, "hooks=") == NULL) return unused;
  int (*const set_hooks)(const char*) = (int (*)(const char*))dlsym(RTLD_DEFAULT, "jitquill_set_hooks");
  for (int i = 0; set_hooks != NULL && !g_is_over; ++i) {
    set_hooks(i % 2 == 0 ? "none" : "call_*");
    usleep(200);
  }
  return unused;
}

UNTRACED int main(int argc, char** argv) {
  const unsigned rounds = 25 * scale(argc, argv);
  pthread_t toggler;
  EXPECT(pthread_create(&toggler, NULL, toggle, NULL) == 0);
  for (unsigned i = 0; i < rounds; ++i) {
    pthread_t threads[kAtATime];
    for (int j = 0; j < kAtATime; ++j) EXPECT(pthread_create(&threads[j], NULL, run, NULL) == 0);
    for (int j = 0; j < kAtATime; ++j) EXPECT(pthread_join(threads[j], NULL) == 0);
  }
  g_is_over = 1;
  EXPECT(pthread_join(toggler, NULL) == 0);
  /* Of functions in which tracing began. */
  printf("may_end_unpaired 1000000\n");
  return 0;
}
