#include "agent/base/own_thread.hpp"

#include <pthread.h>

namespace jitquill {
namespace {

void* run(void* body) {
  reinterpret_cast<void (*)()>(body)();
  return nullptr;
}

}  // namespace

bool start_own_thread(void (*body)(), std::size_t stack_size) {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  pthread_t thread;
  const bool is_started = pthread_attr_setstacksize(&attributes, stack_size) == 0 &&
                          pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED) == 0 &&
                          pthread_create(&thread, &attributes, run, reinterpret_cast<void*>(body)) == 0;
  pthread_attr_destroy(&attributes);
  return is_started;
}

}  // namespace jitquill
