// Threads that end in the middle: pthread_exit and cancellation, with
// destructors and cleanup handlers on the way, which make traced calls.
#include <pthread.h>
#include <unistd.h>

#include "tests/host/native/subjects/subject.h"

namespace {

int g_destroyed = 0;
int g_cleaned = 0;

}  // namespace

CALL int call_of_cleanup(int x) {
  COUNT(call_of_cleanup);
  KEEP_FRAME;
  return x + 1;
}

namespace {

struct Guard {
  UNTRACED Guard() {}
  UNTRACED ~Guard() { g_destroyed = call_of_cleanup(g_destroyed); }
};
UNTRACED void clean(void*) {
  g_cleaned = call_of_cleanup(g_cleaned);
}
int g_ready[2];

UNTRACED void say_ready() {
  EXPECT(write(g_ready[1], "", 1) == 1);
}

}  // namespace

CALL void* call_exiting(long depth) {
  COUNT(call_exiting);
  const Guard guard;
  if (depth == 0) pthread_exit(&g_ready);
  void* const inside = call_exiting(depth - 1);
  KEEP_FRAME;
  return inside;
}
CALL void* call_waiting(long depth) {
  COUNT(call_waiting);
  const Guard guard;
  void* inside = nullptr;
  pthread_cleanup_push(clean, nullptr);
  if (depth == 0) {
    say_ready();
    for (;;) pause();
  }
  inside = call_waiting(depth - 1);
  pthread_cleanup_pop(0);
  KEEP_FRAME;
  return inside;
}
namespace {

struct Order {
  void* (*function)(long);
  long depth;
};
UNTRACED void* run(void* order) {
  const Order* const what = static_cast<Order*>(order);
  return what->function(what->depth);
}

UNTRACED void* ended(Order order, bool cancel) {
  pthread_t thread;
  EXPECT(pthread_create(&thread, nullptr, run, &order) == 0);
  char byte = 0;
  if (cancel) EXPECT(read(g_ready[0], &byte, 1) == 1 && pthread_cancel(thread) == 0);
  void* told = nullptr;
  EXPECT(pthread_join(thread, &told) == 0);
  return told;
}

}  // namespace

UNTRACED int main(int argc, char** argv) {
  EXPECT(pipe(g_ready) == 0);
  const unsigned rounds = 20 * scale(argc, argv);
  for (unsigned i = 0; i < rounds; ++i) {
    g_destroyed = g_cleaned = 0;
    EXPECT(ended({call_exiting, 20}, false) == &g_ready && g_destroyed == 21);
    EXPECT(ended({call_waiting, 20}, true) == PTHREAD_CANCELED && g_destroyed == 42 && g_cleaned == 21);
  }
  tell_counts();
  return 0;
}
