/* Threads that are cancelled at any instruction, of hooks too, in the middle of traced functions that have
 * nothing to clean up: C, since functions of C++ may be ended only where they call. */
#include <pthread.h>

#include "tests/host/native/subjects/subject.h"

static int g_ready[2];

CALL unsigned call_leaf(unsigned x) {
  KEEP_FRAME;
  return x + 1;
}
CALL unsigned call_busy(unsigned depth) {
  if (depth > 0) {
    const unsigned inside = call_busy(depth - 1);
    KEEP_FRAME;
    return inside + 1;
  }
  EXPECT(write(g_ready[1], "", 1) == 1);
  pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
  for (unsigned x = 0;;) x = call_leaf(x);
}

UNTRACED static void* run(void* unused) {
  call_busy(20);
  return unused;
}

UNTRACED int main(int argc, char** argv) {
  EXPECT(pipe(g_ready) == 0);
  const unsigned rounds = 10 * scale(argc, argv);
  for (unsigned i = 0; i < rounds; ++i) {
    pthread_t thread;
    EXPECT(pthread_create(&thread, NULL, run, NULL) == 0);
    char byte = 0;
    EXPECT(read(g_ready[0], &byte, 1) == 1);
    usleep(i % 10 * 20);
    EXPECT(pthread_cancel(thread) == 0);
    void* told = NULL;
    EXPECT(pthread_join(thread, &told) == 0 && told == PTHREAD_CANCELED);
  }
  /* A record whose hook was ended in the middle. */
  printf("may_lose %u\n", rounds);
  return 0;
}
