// The threads of one run: where they stop, for the collector and at the end, and how they wait for each
// other.
//
// Jitted code compares rsp with ThreadWords::stack_limit at each entry and in each round of a loop. A thread
// that wants the others to stop raises their limits; each of them then calls poll(), and what the collector
// must know of it lies in its Frames. A thread that waits counts as stopped.
//
// Context   as the functions say. One lock for everything here, channels and tasks included.
// Promises  one fault ends the run: the first. A run in which all threads wait for each other ends as a
//           fault.
#pragma once

#include <pthread.h>
#include <setjmp.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "nib/heap.hpp"
#include "nib/runtime.hpp"
#include "nib/sparks.hpp"
#include "nib/telling.hpp"

namespace nib {

using Lock = std::unique_lock<std::mutex>;

class World;

// A thread of a program.
struct Thread {
  enum class Role : std::uint8_t { kMain, kSpawned, kWorker };

  World* world = nullptr;
  ThreadWords* words = nullptr;  // while it runs
  std::uintptr_t own_limit = 0;  // ThreadWords::stack_limit, when nobody wants it to stop
  std::uintptr_t stack_end = 0;  // the highest address; 0: not known
  void* stopped_at = nullptr;    // the address of a frame above all of its jitted ones, while it stands still
  std::function<bool()> ready{};  // while it waits: what for
  jmp_buf leave{};
  std::uint64_t id = new_id();  // in the whole process
  std::uint64_t allocated = 0;  // bytes, the rest of its hole included
  std::uint16_t capability = 0;
  Role role = Role::kMain;
  Task* task = nullptr;  // that it runs, but not what it joins
  pthread_t system_thread{};

  // The thread itself reads it at any time.
  void set_limit(std::uintptr_t limit) noexcept {
    std::atomic_ref(words->stack_limit).store(limit, std::memory_order_relaxed);
  }
  static std::uint64_t new_id() noexcept;
};

// The one that calls.
extern thread_local Thread* this_thread;

class World {
 public:
  World(const Output& output, const CodeTable* code, const HeapOptions& heap, std::size_t workers)
      : output_(output), code_(code), counts_sites_(heap.counts_sites), workers_(workers), heap_(heap) {}

  // ---- A thread's life (world_threads.cpp) ----
  // On its own stack. `thread` runs from here on.
  void attach(Thread& thread);
  void detach() noexcept;
  // From now on that is where others find and change the words of this attached thread.
  void move_words(Thread& thread, ThreadWords& to) noexcept;
  // Runs it in a thread of its own. False: the system has no more threads.
  bool start(Task& task, std::string_view name);
  // Until only this one is left; ends the others first if the run is over.
  void wait_for_others();
  void end_others() noexcept;

  // ---- In a run; what fails does not return ----
  void poll();
  // As code_at() in runtime.hpp. What the caller needs is in Frames: threads may be stopped.
  void* code_at(const CodePoint& point);
  [[noreturn]] void fail(const FaultSite& site, Fault kind, std::int64_t first, std::int64_t second);
  // For the workers; the first one starts them.
  void put(Task& spark);
  // Its result; runs it if nobody does yet.
  std::int64_t join(Task& task, const FaultSite& site);
  // Memory for an object that is not yet initialised; counts it for `site`.
  std::byte* allocate(const FaultSite& site, std::size_t size);
  // Holds the lock when it returns; `ready` is called under it.
  void wait_until(Lock& lock, const FaultSite& site, Wait why, std::function<bool()> ready);
  // What `ready` looks at has changed.
  void tell_waiting() noexcept { changed_.notify_all(); }
  void print(std::string_view line);
  std::mutex& mutex() noexcept { return mutex_; }
  Heap& heap() noexcept { return heap_; }

  RunResult& result() noexcept { return result_; }

 private:
  // Leaves the run if it is over.
  void stop_if_wanted(Lock& lock);
  void block(Lock& lock, const FaultSite* site, Wait why, std::function<bool()> ready);
  [[noreturn]] void leave(Lock& lock);
  void end_with(const FaultSite& site, Fault kind, std::int64_t first, std::int64_t second);
  void end_all() noexcept;
  std::byte* take(std::size_t size);
  void collect(Lock& lock);
  void tell_collected_here() const noexcept;
  // All other threads stand still while `work` is done, and what they run can be seen on their stacks.
  void stop_others(Lock& lock, bool collects, const std::function<void()>& work);
  void mark_roots();
  void join_ended(Lock& lock);
  bool start(Lock& lock, std::unique_ptr<Thread> thread, std::string_view name);
  static void* run_thread(void* thread);
  void run(Lock& lock, Task& task);
  void work(Thread& worker);

  const Output& output_;
  const CodeTable* code_;
  const bool counts_sites_;
  std::size_t workers_;  // that there should be
  std::mutex mutex_;
  std::mutex output_mutex_;
  std::condition_variable changed_;
  Heap heap_;
  Sparks sparks_;
  std::vector<std::unique_ptr<Thread>> spawned_;
  std::vector<Thread*> threads_;  // attached
  std::vector<pthread_t> ended_;  // to be joined
  std::size_t starting_ = 0;
  std::atomic<bool> has_spawned_ = false;
  std::size_t running_ = 0;  // attached, not stopped and not waiting
  bool wants_stop_ = false;
  bool collects_ = false;  // it wants it for that
  bool is_over_ = false;
  bool is_closing_ = false;  // only workers are left
  bool is_deadlocked_ = false;
  RunResult result_;
};

}  // namespace nib
