/* A library that is opened, called, closed, and opened again, in any mode, while another thread's calls are
 * traced. */
#include <dlfcn.h>
#include <libgen.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "tests/host/native/subjects/subject.h"

/* What is bound to its own libraries first finds libc's names, which do nothing, unless it was linked with
 * ours. */
#ifdef WAY_return
#define HAS_OWN_HOOKS 1
#else
#define HAS_OWN_HOOKS 0
#endif

static atomic_int g_is_over;

CALL int call_beside(int x) {
  COUNT(call_beside);
  KEEP_FRAME;
  return x + 1;
}
CALL int call_into(int (*function)(int), int x) {
  COUNT(call_into);
  const int inside = function(x);
  KEEP_FRAME;
  return inside + 1;
}

UNTRACED static void* run(void* unused) {
  while (!g_is_over) {
    for (int i = 0; i < 100; ++i) EXPECT(call_beside(i) == i + 1);
    usleep(100);
  }
  return unused;
}

UNTRACED int main(int argc, char** argv) {
  const unsigned rounds = 20 * scale(argc, argv);
  char own[4096] = {0};
  EXPECT(readlink("/proc/self/exe", own, sizeof own - 1) > 0);
  char library[4200];
  snprintf(library, sizeof library, "%s.so", own);
  pthread_t thread;
  EXPECT(pthread_create(&thread, NULL, run, NULL) == 0);
  static const int kModes[] = {RTLD_NOW, RTLD_LAZY, RTLD_NOW | RTLD_DEEPBIND, RTLD_NOW | RTLD_GLOBAL};
  unsigned long traced = 0;
  for (unsigned i = 0; i < rounds; ++i) {
    void* const opened = dlopen(library, kModes[i % 4]);
    EXPECT(opened != NULL);
    int (*const function)(int) = (int (*)(int))dlsym(opened, "call_of_library");
    EXPECT(function != NULL);
    for (int j = 0; j < 10; ++j) EXPECT(call_into(function, j) == 3 * j + 4);
    if (!(kModes[i % 4] & RTLD_DEEPBIND) || HAS_OWN_HOOKS) traced += 10;
    EXPECT(dlclose(opened) == 0);
  }
  g_is_over = 1;
  EXPECT(pthread_join(thread, NULL) == 0);
  printf("count call_of_library %lu\ncount call_in_library %lu\n", traced, traced);
  tell_counts();
  return 0;
}
