#include "nib/world.hpp"

#include "nib/executable.hpp"

#include <algorithm>
#include <atomic>
#include <string>
#include <utility>

namespace nib {

thread_local Thread* this_thread = nullptr;

namespace {

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
    if (collects) {
      tell_collected_here();
    } else {
      tell_thread_runs(this_thread->id);
    }
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
  for (Thread* each : threads_) each->set_limit(UINTPTR_MAX);
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
      sparks_.prune(this_thread->capability, heap_);
      tell_marked();
      heap_.sweep();
      tell_collected(heap_);
      tell_collected_here();
    });
  }
  stop_if_wanted(lock);
}

void World::tell_collected_here() const noexcept {
  sparks_.tell_counts(this_thread->capability);
  tell_collection_ends(this_thread->id, this_thread->allocated);
}

void World::stop_others(Lock& lock, bool collects, const std::function<void()>& work) {
  wants_stop_ = true;
  collects_ = collects;
  this_thread->stopped_at = __builtin_frame_address(0);
  for (Thread* each : threads_)
    if (each != this_thread) each->set_limit(UINTPTR_MAX);
  while (running_ > 1) changed_.wait(lock);
  work();
  wants_stop_ = false;
  for (Thread* each : threads_)
    if (!is_over_) each->set_limit(each->own_limit);
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
  for (const auto& each : spawned_)
    if (each->task != nullptr) heap_.mark(&each->task->head);
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
