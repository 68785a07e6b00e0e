#include "agent/base/own_thread.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <cerrno>

#include "agent/base/folder_entries.hpp"
#include "agent/base/thread_id.hpp"
#include "writer/bytes/raw_calls.hpp"

namespace jitquill {
namespace {

// Woken by a thread of the host it would take that thread's CPU, where no other is free: of a batch it waits
// until the kernel would go on with somebody else anyway. What a host chose, real time for one, stays.
void be_of_a_batch() noexcept {
  if (raw::call(SYS_sched_getscheduler, 0) != SCHED_OTHER) return;
  const sched_param none{};
  (void)raw::call(SYS_sched_setscheduler, 0, SCHED_BATCH, &none);
}

// Of the process `pid`: a child has none.
constinit std::atomic<std::uint32_t> g_pid{0};
constinit std::atomic<unsigned> g_count{0};

void note_one_more() noexcept {
  if (g_pid.exchange(current_pid()) != current_pid()) g_count.store(0);
  ++g_count;
}

void* run(void* body) {
  be_of_a_batch();
  reinterpret_cast<void (*)()>(body)();
  --g_count;
  return nullptr;
}

unsigned count_tasks() noexcept {
  unsigned tasks = 0;
  for_each_entry(AT_FDCWD, "/proc/self/task", [&](const char*) { ++tasks; });
  return tasks;
}

// Its robust list is let go of when it ends. Asked first: files of /proc take a descriptor for a moment.
bool has_first_ended() noexcept {
  const void* head = nullptr;
  std::size_t size = 0;
  return raw::call(SYS_get_robust_list, current_pid(), &head, &size) == 0 && head == nullptr;
}

}  // namespace

bool is_last_thread() noexcept {
  if (!has_first_ended()) return false;
  return count_tasks() == 2;
}

bool is_only_thread_of_host() noexcept {
  const unsigned own = g_pid.load() == current_pid() ? g_count.load() : 0;
  return count_tasks() == own + 1;
}

// The host's thread-local variables take their place from a thread's stack: with many of them a small stack
// is no stack, which pthread_create() calls a bad argument.
bool start_own_thread(void (*body)(), std::size_t stack_size) {
  constexpr std::size_t kMostStackSize = std::size_t{64} << 20;
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  (void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  int created = EINVAL;
  note_one_more();
  for (; created == EINVAL && stack_size <= kMostStackSize; stack_size *= 2) {
    pthread_t thread;
    if (pthread_attr_setstacksize(&attributes, stack_size) == 0)
      created = pthread_create(&thread, &attributes, run, reinterpret_cast<void*>(body));
  }
  pthread_attr_destroy(&attributes);
  if (created != 0) --g_count;
  return created == 0;
}

}  // namespace jitquill
