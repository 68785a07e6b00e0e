/* Calls without end until somebody kills it. First argument: a file for what it has begun and done. */
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>

#include "tests/host/native/subjects/killed.h"
#include "tests/host/native/subjects/subject.h"

static struct killed_progress* g_progress;

CALL double call_one(double x) {
  KEEP_FRAME;
  return x + 1;
}
CALL double call_two(double x) {
  KEEP_FRAME;
  return x + 2;
}

UNTRACED static void* run(void* which) {
  struct killed_thread* const own = &g_progress->threads[which != NULL];
  for (;;) {
    __atomic_store_n(&own->begun, own->begun + 1, __ATOMIC_SEQ_CST);
    EXPECT((which == NULL ? call_one(1) : call_two(0)) == 2);
    __atomic_store_n(&own->done, own->done + 1, __ATOMIC_SEQ_CST);
  }
  return NULL;
}

UNTRACED int main(int argc, char** argv) {
  const int file = argc < 2 ? -1 : open(argv[1], O_RDWR);
  if (file < 0) return 2;
  g_progress = mmap(NULL, sizeof *g_progress, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  EXPECT(g_progress != MAP_FAILED);
  pthread_t thread;
  EXPECT(pthread_create(&thread, NULL, run, g_progress) == 0);
  run(NULL);
}
