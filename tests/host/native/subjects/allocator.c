/* The program's own malloc family, which is traced. */
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "tests/host/native/subjects/subject.h"

enum { kRoom = 64 << 20, kHeader = 16 };

static unsigned char g_room[kRoom] __attribute__((aligned(16)));
static size_t g_used;

APART static void* call_take(size_t size, size_t alignment) {
  COUNT(call_take);
  if (alignment < kHeader) alignment = kHeader;
  const size_t wanted = size + kHeader + alignment;
  const size_t from = __atomic_fetch_add(&g_used, (wanted + 15) & ~(size_t)15, __ATOMIC_RELAXED);
  if (from + wanted > kRoom) {
    errno = ENOMEM;
    return NULL;
  }
  const uintptr_t at = ((uintptr_t)g_room + from + kHeader + alignment - 1) & ~(alignment - 1);
  ((size_t*)at)[-1] = size;
  return (void*)at;
}
void* malloc(size_t size) {
  return call_take(size, kHeader);
}
void free(void* memory) {
  if (memory != NULL && ((size_t*)memory)[-1] > kRoom) fail(__LINE__);
}
void* calloc(size_t count, size_t size) {
  return call_take(count * size, kHeader);
}
void* realloc(void* memory, size_t size) {
  void* const moved = call_take(size, kHeader);
  const size_t old = memory == NULL ? 0 : ((size_t*)memory)[-1];
  if (moved != NULL && memory != NULL) memcpy(moved, memory, old < size ? old : size);
  return moved;
}
void* memalign(size_t alignment, size_t size) {
  return call_take(size, alignment);
}
void* aligned_alloc(size_t alignment, size_t size) {
  return call_take(size, alignment);
}
int posix_memalign(void** memory, size_t alignment, size_t size) {
  *memory = call_take(size, alignment);
  return *memory == NULL ? ENOMEM : 0;
}

CALL int call_user(int size) {
  COUNT(call_user);
  char* const memory = malloc((size_t)size);
  char* const more = realloc(memory, (size_t)size * 2);
  memset(more, 1, (size_t)size * 2);
  free(more);
  KEEP_FRAME;
  return size;
}

UNTRACED static void* run(void* unused) {
  for (int i = 1; i < 50; ++i) EXPECT(call_user(i) == i);
  return unused;
}

UNTRACED int main(int argc, char** argv) {
  const unsigned rounds = 10 * scale(argc, argv);
  for (unsigned i = 0; i < rounds; ++i) {
    pthread_t thread;
    EXPECT(pthread_create(&thread, NULL, run, NULL) == 0);
    run(NULL);
    EXPECT(pthread_join(thread, NULL) == 0);
  }
  setvbuf(stdout, NULL, _IOFBF, 4096);
  /* libc allocates at the end, too: only what the program did is counted. */
  for (const struct told* each = __start_told; each < __stop_told; ++each)
    if (strcmp(each->name, "call_user") == 0)
      printf("count %s %lu\n", each->name, (unsigned long)each->calls);
  return 0;
}
