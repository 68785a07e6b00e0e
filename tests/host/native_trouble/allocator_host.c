/* The program's own allocator, whose functions are traced while its lock is held, as they are in a child when
 * they are the first ones that are called there. Who allocates from inside would wait for itself: that is
 * told.
 *
 * With an argument: before the fork the libraries FOLDER/0.so, 1.so and so on are opened, so that each thread
 * that is made from then on has to allocate. With one more there is another thread at the fork;
 * a third is how often the child's own thread calls. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/host/native/traced.h"

enum { kRoom = 16 << 20, kHeader = 16 };
static unsigned char g_room[kRoom] __attribute__((aligned(16)));
static size_t g_used;
static int g_lock;
static volatile _Thread_local int g_has_lock;

CALL static size_t call_reserve(size_t size) {
  const size_t from = g_used;
  g_used += (size + 2 * kHeader - 1) / kHeader * kHeader;
  KEEP_FRAME;
  return from;
}
UNTRACED static void* take(size_t size) {
  if (g_has_lock) {
    static const char kWords[] = "the allocator was entered from inside itself\n";
    (void)!write(2, kWords, sizeof kWords - 1);
    _exit(9);
  }
  while (__atomic_exchange_n(&g_lock, 1, __ATOMIC_ACQUIRE) != 0) usleep(10);
  g_has_lock = 1;
  const size_t from = call_reserve(size);
  g_has_lock = 0;
  __atomic_store_n(&g_lock, 0, __ATOMIC_RELEASE);
  if (g_used > kRoom) return NULL;
  unsigned char* const memory = g_room + from + kHeader;
  memcpy(memory - sizeof size, &size, sizeof size);
  return memory;
}
UNTRACED void* malloc(size_t size) {
  return take(size);
}
UNTRACED void free(void* memory) {
  (void)memory;
}
UNTRACED void* calloc(size_t count, size_t size) {
  return take(count * size);
}
UNTRACED void* realloc(void* memory, size_t size) {
  void* const moved = take(size);
  size_t before = 0;
  if (memory != NULL) memcpy(&before, (unsigned char*)memory - sizeof before, sizeof before);
  if (moved != NULL && before != 0) memcpy(moved, memory, before < size ? before : size);
  return moved;
}

CALL int call_in_child(int x) {
  KEEP_FRAME;
  return x + 1;
}

static long g_calls_in_thread = 100;

UNTRACED static void* run(void* unused) {
  for (long i = 0; i < g_calls_in_thread; ++i) (void)call_in_child((int)i);
  return unused;
}

UNTRACED static void* wait_for_ever(void* unused) {
  for (;;) pause();
  return unused;
}

UNTRACED static int open_all_of(const char* folder) {
  int count = 0;
  char path[4096];
  while (snprintf(path, sizeof path, "%s/%d.so", folder, count) > 0 && access(path, F_OK) == 0) {
    if (dlopen(path, RTLD_NOW) == NULL) return 0;
    ++count;
  }
  return count;
}

UNTRACED int main(int argc, char** argv) {
  if (malloc(10) == NULL) return 2;
  if (argc > 1 && open_all_of(argv[1]) == 0) return 7;
  if (argc > 3) g_calls_in_thread = atol(argv[3]);
  pthread_t waiting;
  if (argc > 2 && pthread_create(&waiting, NULL, wait_for_ever, NULL) != 0) return 8;
  const pid_t child = fork();
  if (child == 0) {
    if (malloc(100) == NULL) _exit(3);
    for (int i = 0; i < 1000; ++i)
      if (call_in_child(i) != i + 1) _exit(4);
    pthread_t thread;
    if (pthread_create(&thread, NULL, run, NULL) != 0 || pthread_join(thread, NULL) != 0) _exit(5);
    exit(0);
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child) return 6;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status);
}
