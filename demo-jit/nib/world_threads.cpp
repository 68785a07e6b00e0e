// A thread of a program from its begin to its end, and the calls that it is asked for: tasks.
#include <algorithm>
#include <atomic>
#include <utility>

#include "nib/world.hpp"

namespace nib {
namespace {

// A stack without a limit of its own (ulimit -s unlimited) would let a runaway recursion take all memory. And
// AddressSanitizer does not follow a longjmp over more than 64 MiB.
constexpr std::uintptr_t kMaxStackUse = std::uintptr_t{32} << 20;

void find_stack(Thread& thread) noexcept {
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  std::uintptr_t limit = here > kMaxStackUse ? here - kMaxStackUse : 0;
  thread.own_limit = here - kStackReserve;
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
  void* lowest = nullptr;
  std::size_t size = 0;
  std::size_t guard = 0;
  pthread_attr_getstack(&attributes, &lowest, &size);
  pthread_attr_getguardsize(&attributes, &guard);
  pthread_attr_destroy(&attributes);
  const auto start = reinterpret_cast<std::uintptr_t>(lowest);
  thread.own_limit = std::max(limit, start + guard + kStackReserve);
  if (here > start && here < start + size) thread.stack_end = start + size;
}

}  // namespace

std::uint64_t Thread::new_id() noexcept {
  static std::atomic<std::uint64_t> last = 0;
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

// ---- A thread's life ----

void World::attach(Thread& thread) {
  this_thread = &thread;
  thread.world = this;
  thread.words = &words;
  find_stack(thread);
  words = {.stack_limit = thread.own_limit};
  Lock lock(mutex_);
  while (wants_stop_) changed_.wait(lock);
  threads_.push_back(&thread);
  ++running_;
  if (thread.role == Thread::Role::kMain) {
    tell_run_begins(heap_);
    tell_thread_created(thread.id, "main");
  } else {
    --starting_;
  }
  thread.capability = sparks_.take_capability();
  if (is_over_) thread.set_limit(UINTPTR_MAX);
  tell_thread_runs(thread.id);
}

void World::detach() noexcept {
  const Lock lock(mutex_);
  tell_thread_ends(this_thread->id, this_thread->allocated);
  sparks_.leave_capability(this_thread->capability);
  std::erase(threads_, this_thread);
  --running_;
  changed_.notify_all();
}

void World::move_words(Thread& thread, ThreadWords& to) noexcept {
  const Lock lock(mutex_);
  to = *thread.words;
  thread.words = &to;
}

bool World::start(Task& task, std::string_view name) {
  Lock lock(mutex_);
  join_ended(lock);
  return start(lock, std::unique_ptr<Thread>(new Thread{.role = Thread::Role::kSpawned, .task = &task}),
               name);
}

bool World::start(Lock&, std::unique_ptr<Thread> thread, std::string_view name) {
  has_spawned_ = true;
  thread->world = this;
  tell_thread_created(thread->id, name, thread->role == Thread::Role::kWorker);
  Thread& started = *spawned_.emplace_back(std::move(thread));
  ++starting_;
  if (pthread_create(&started.system_thread, nullptr, run_thread, &started) == 0) return true;
  --starting_;
  spawned_.pop_back();
  return false;
}

void* World::run_thread(void* argument) {
  auto& thread = *static_cast<Thread*>(argument);
  World& world = *thread.world;
  world.attach(thread);
  if (setjmp(thread.leave) == 0) world.work(thread);
  world.detach();
  const Lock lock(world.mutex_);
  world.ended_.push_back(thread.system_thread);
  std::erase_if(world.spawned_, [&](const auto& each) { return each.get() == &thread; });
  world.changed_.notify_all();
  return nullptr;
}

void World::work(Thread& thread) {
  Lock lock(mutex_);
  if (thread.role == Thread::Role::kSpawned) return run(lock, *thread.task);
  while (true) {
    block(lock, nullptr, Wait::kForSpark, [this] { return is_closing_ || is_over_ || !sparks_.is_empty(); });
    if (is_closing_ || is_over_) return;
    thread.task = sparks_.next(thread.capability);
    if (thread.task != nullptr) run(lock, *thread.task);
    thread.task = nullptr;
  }
}

void World::join_ended(Lock& lock) {
  const std::vector<pthread_t> ended = std::exchange(ended_, {});
  lock.unlock();
  for (const pthread_t each : ended) pthread_join(each, nullptr);
  lock.lock();
}

void World::wait_for_others() {
  Lock lock(mutex_);
  const auto is_worker = [](const auto& each) { return each->role == Thread::Role::kWorker; };
  block(lock, nullptr, Wait::kForThread,
        [&] { return std::all_of(spawned_.begin(), spawned_.end(), is_worker); });
  is_closing_ = true;
  changed_.notify_all();
  block(lock, nullptr, Wait::kForThread, [this] { return spawned_.empty(); });
  join_ended(lock);
}

void World::end_others() noexcept {
  words.frames = nullptr;  // those of functions that an exception left
  {
    const Lock lock(mutex_);
    end_all();
  }
  wait_for_others();
}

// ---- Tasks ----

// Who calls it keeps the task known to the collector.
void World::run(Lock& lock, Task& task) {
  task.state = Task::State::kRunning;
  lock.unlock();
  auto* const code = reinterpret_cast<SpawnCode*>(nib::code_at(*task.code));
  std::int64_t result = 0;
  code(reinterpret_cast<const std::int64_t*>(task.arguments + 1), &result);
  lock.lock();
  task.result = result;
  task.arguments = nullptr;
  task.state = Task::State::kDone;
  changed_.notify_all();
}

void World::put(Task& spark) {
  Lock lock(mutex_);
  sparks_.put(this_thread->capability, spark);
  for (; workers_ > 1; --workers_)
    start(lock, std::unique_ptr<Thread>(new Thread{.role = Thread::Role::kWorker}), "worker");
  changed_.notify_all();
}

std::int64_t World::join(Task& task, const FaultSite& site) {
  Lock lock(mutex_);
  if (task.state == Task::State::kWaiting) {
    sparks_.take(this_thread->capability, task);
    run(lock, task);
  }
  wait_until(lock, site, Wait::kForThread, [&task] { return task.state == Task::State::kDone; });
  return task.result;
}

}  // namespace nib
