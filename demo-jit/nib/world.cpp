#include "nib/world.hpp"

#include "nib/executable.hpp"

#include <algorithm>
#include <atomic>
#include <string>
#include <utility>

namespace nib {

thread_local Thread* this_thread = nullptr;

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

// The thread itself reads it at any time.
void set_limit(Thread& thread, std::uintptr_t limit) noexcept {
  std::atomic_ref(thread.words->stack_limit).store(limit, std::memory_order_relaxed);
}

std::string text_of(const FaultSite& site, Fault kind, std::int64_t first, std::int64_t second) {
  static constexpr std::string_view kTexts[] = {
#define FAULT(name, text) text,
#include "nib/fault.def"
#undef FAULT
  };
  std::string text(kTexts[static_cast<std::size_t>(kind)]);
  const auto put = [&text](std::string_view name, std::string_view value) {
    if (const auto at = text.find(name); at != std::string::npos) text.replace(at, name.size(), value);
  };
  put("{1}", std::to_string(first));
  put("{2}", std::to_string(second));
  put("{function}", site.function);
  put("{text}", site.text);
  return text;
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
  if (thread.task != nullptr) {
    --starting_;
  } else {
    tell_run_begins(heap_);
    tell_thread_created(thread.id, "main");
  }
  if (is_over_) set_limit(thread, UINTPTR_MAX);
  tell_thread_runs(thread.id);
}

void World::detach() noexcept {
  const Lock lock(mutex_);
  tell_thread_ends(this_thread->id, this_thread->allocated);
  std::erase(threads_, this_thread);
  --running_;
  changed_.notify_all();
}

void World::move_words(Thread& thread, ThreadWords& to) noexcept {
  const Lock lock(mutex_);
  to = *thread.words;
  thread.words = &to;
}

bool World::start(std::unique_ptr<Thread> thread, std::string_view name) {
  Lock lock(mutex_);
  join_ended(lock);
  has_spawned_ = true;
  thread->world = this;
  tell_thread_created(thread->id, name);
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
  std::int64_t result = 0;
  if (setjmp(thread.leave) == 0) {
    reinterpret_cast<SpawnCode*>(nib::code_at(*thread.code))(thread.arguments.data(), &result);
    const Lock lock(world.mutex_);
    thread.task->result = result;
    thread.task->is_done = 1;
  }
  world.detach();
  const Lock lock(world.mutex_);
  world.ended_.push_back(thread.system_thread);
  std::erase_if(world.spawned_, [&](const auto& each) { return each.get() == &thread; });
  world.changed_.notify_all();
  return nullptr;
}

void World::join_ended(Lock& lock) {
  const std::vector<pthread_t> ended = std::exchange(ended_, {});
  lock.unlock();
  for (const pthread_t each : ended) pthread_join(each, nullptr);
  lock.lock();
}

void World::wait_for_others() {
  Lock lock(mutex_);
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

// ---- Stopping and waiting ----

void World::poll() {
  Lock lock(mutex_);
  stop_if_wanted(lock);
}

void World::stop_if_wanted(Lock& lock) {
  if (wants_stop_) {
    const bool collects = collects_;
    this_thread->stopped_at = __builtin_frame_address(0);
    collects ? tell_collection_begins(this_thread->id, false) : tell_thread_yields(this_thread->id);
    --running_;
    changed_.notify_all();
    while (wants_stop_) changed_.wait(lock);
    ++running_;
    collects ? tell_collection_ends(this_thread->id, this_thread->allocated)
             : tell_thread_runs(this_thread->id);
  }
  if (is_over_) leave(lock);
}

// What is jumped over has nothing to give back but the lock.
void World::leave(Lock& lock) {
  lock.unlock();
  longjmp(this_thread->leave, 1);
}

void World::wait_until(Lock& lock, const FaultSite& site, Wait why, std::function<bool()> ready) {
  block(lock, &site, why, std::move(ready));
}

// Without a site the thread waits for the end of the others, whatever happens to them.
void World::block(Lock& lock, const FaultSite* site, Wait why, std::function<bool()> ready) {
  const auto can_run = [](const Thread* each) { return !each->ready || each->ready(); };
  while (!ready()) {
    this_thread->ready = ready;
    this_thread->stopped_at = __builtin_frame_address(0);
    tell_thread_waits(this_thread->id, why);
    --running_;
    changed_.notify_all();
    while (!ready() && (site == nullptr || (!is_over_ && !is_deadlocked_))) {
      if (starting_ == 0 && std::none_of(threads_.begin(), threads_.end(), can_run) && !is_deadlocked_ &&
          !is_over_) {
        is_deadlocked_ = true;
        changed_.notify_all();
      } else {
        changed_.wait(lock);
      }
    }
    while (wants_stop_) changed_.wait(lock);
    this_thread->ready = nullptr;
    ++running_;
    tell_thread_runs(this_thread->id);
    if (site == nullptr) continue;
    if (is_over_) leave(lock);
    if (is_deadlocked_) {
      lock.unlock();
      fail(*site, Fault::kDeadlock, 0, 0);
    }
  }
}

void World::fail(const FaultSite& site, Fault kind, std::int64_t first, std::int64_t second) {
  end_with(site, kind, first, second);
  Lock lock(mutex_);
  leave(lock);
}

// Apart from fail(), whose locals are never destroyed.
void World::end_with(const FaultSite& site, Fault kind, std::int64_t first, std::int64_t second) {
  StackTrace trace;
  if (code_ != nullptr) walk_stack(*code_, trace);
  const Lock lock(mutex_);
  if (is_over_) return;
  result_.error = Diagnostic{site.at, text_of(site, kind, first, second)};
  result_.trace = std::move(trace);
  end_all();
}

void World::end_all() noexcept {
  is_over_ = true;
  for (Thread* each : threads_) set_limit(*each, UINTPTR_MAX);
  changed_.notify_all();
}

// ---- Memory ----

std::byte* World::allocate(const FaultSite& site, std::size_t size) {
  if (counts_sites_) {
    std::atomic_ref(site.made_objects).fetch_add(1, std::memory_order_relaxed);
    std::atomic_ref(site.made_bytes).fetch_add(size, std::memory_order_relaxed);
  }
  if (Heap::is_small(size) && size <= static_cast<std::size_t>(words.end - words.next)) {
    std::byte* const memory = words.next;
    words.next += size;
    return memory;
  }
  Lock lock(mutex_);
  if (heap_.is_due(size)) collect(lock);
  std::byte* memory = take(size);
  if (memory == nullptr) {
    collect(lock);
    memory = take(size);
  }
  if (memory == nullptr) {
    lock.unlock();
    fail(site, Fault::kNoMemory, 0, 0);
  }
  return memory;
}

std::byte* World::take(std::size_t size) {
  const auto rest = static_cast<std::uint64_t>(words.end - words.next);
  std::byte* const memory = heap_.take(size, words);
  this_thread->allocated +=
      static_cast<std::uint64_t>(words.end - words.next) - rest + (memory != nullptr ? size : 0);
  return memory;
}

// By this thread, or, if another one is about to, by that one.
void World::collect(Lock& lock) {
  if (!wants_stop_ && !is_over_) {
    tell_collection_begins(this_thread->id, true);
    stop_others(lock, true, [this] {
      tell_all_stand_still();
      heap_.start_marking();
      mark_roots();
      heap_.finish_marking();
      tell_marked();
      heap_.sweep();
      tell_collected(heap_);
      tell_collection_ends(this_thread->id, this_thread->allocated);
    });
  }
  stop_if_wanted(lock);
}

void World::stop_others(Lock& lock, bool collects, const std::function<void()>& work) {
  wants_stop_ = true;
  collects_ = collects;
  this_thread->stopped_at = __builtin_frame_address(0);
  for (Thread* each : threads_)
    if (each != this_thread) set_limit(*each, UINTPTR_MAX);
  while (running_ > 1) changed_.wait(lock);
  work();
  wants_stop_ = false;
  for (Thread* each : threads_)
    if (!is_over_) set_limit(*each, each->own_limit);
  changed_.notify_all();
}

// ---- Code ----

namespace {

// Each word could be a return address. What other threads wrote there they wrote before they stopped.
[[gnu::no_sanitize_address, gnu::no_sanitize_thread]] void visit_stack(
    const Thread& thread, const std::function<void(std::uintptr_t)>& visit) {
  for (auto word = reinterpret_cast<std::uintptr_t>(thread.stopped_at); word < thread.stack_end;
       word += sizeof(std::uintptr_t))
    visit(*reinterpret_cast<const std::uintptr_t*>(word));
}

}  // namespace

void* World::code_at(const CodePoint& point) {
  Lock lock(mutex_);
  stop_if_wanted(lock);
  Executable& executable = *point.executable;
  void* const code = executable.code_at(point);
  const auto is_known = [](const Thread* each) { return each->stack_end != 0; };
  if (executable.is_full() && !is_over_ && std::all_of(threads_.begin(), threads_.end(), is_known)) {
    stop_others(lock, false, [&] {
      executable.make_room(code, [this](const std::function<void(std::uintptr_t)>& visit) {
        for (const Thread* each : threads_) visit_stack(*each, visit);
      });
    });
  }
  return code;
}

void World::mark_roots() {
  for (Thread* each : threads_) {
    each->allocated -= static_cast<std::uint64_t>(each->words->end - each->words->next);
    each->words->next = each->words->end = nullptr;
    for (Frame* frame = each->words->frames; frame != nullptr; frame = frame->outer)
      for (std::int64_t i = 0; i < frame->count; ++i) heap_.mark(frame->slots()[i]);
  }
  for (const auto& each : spawned_) {
    heap_.mark(&each->task->head);
    for (std::size_t i = 0; i < each->arguments.size(); ++i)
      if ((each->references >> i & 1) != 0) heap_.mark(reinterpret_cast<Object*>(each->arguments[i]));
  }
}

// ---- Output ----

// A program of one thread may print inside of a print, and `output` may leave it by longjmp.
void World::print(std::string_view line) {
  Frame* const frames = words.frames;
  if (!has_spawned_) {
    output_(line);
  } else {
    const std::lock_guard guard(output_mutex_);
    output_(line);
  }
  words.frames = frames;
}

}  // namespace nib
