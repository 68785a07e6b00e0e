/* Memory for stacks that the drain tells from the thread's own. Slots have 28 bits of a word's address: of
 * places that are 2 GiB apart it cannot know which one is meant, unless it is told of both (README, Limits).
 * One place in 256 would be such a one beside a stack of 8 MiB. */
#pragma once

#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>

/* From the calling thread's stack. */
__attribute__((unused, no_instrument_function)) static int is_told_apart(const void* place, uint64_t size) {
  const uint64_t kPeriod = (uint64_t)1 << 31, kReach = 64 * 1024;
  pthread_attr_t attributes;
  void* low = 0;
  size_t own_size = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 1;
  pthread_attr_getstack(&attributes, &low, &own_size);
  pthread_attr_destroy(&attributes);
  if (own_size > kPeriod / 2) return 1; /* nothing is, hardly */
  const uint64_t distance = ((uint64_t)place - (uint64_t)low) % kPeriod;
  return distance >= own_size + kReach && distance + size + kReach <= kPeriod;
}

/* At `place`, if that is free and told apart. MAP_FAILED: no memory. */
__attribute__((unused, no_instrument_function)) static void* map_told_apart(void* place, uint64_t size) {
  const uint64_t kStep = 64 << 20;
  for (;;) {
    void* const memory = mmap(place, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || is_told_apart(memory, size)) return memory;
    munmap(memory, size);
    place = (void*)((uint64_t)memory - kStep);
  }
}
