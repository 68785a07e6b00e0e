#include "agent/lanes/reentry_queue.hpp"

#include <sys/mman.h>
#include <cstring>
#include <new>

#include "writer/bytes/raw_calls.hpp"

namespace jitquill {
namespace {

// Hands out the memory behind an entry, first counting, then for real: one walk for both.
class Tail {
 public:
  explicit Tail(unsigned char* begin) noexcept : begin_(begin) {}

  template <class T>
  std::span<const T> keep(std::span<const T> from) noexcept {
    size_ = (size_ + alignof(T) - 1) & ~(alignof(T) - 1);
    unsigned char* at = begin_ == nullptr ? nullptr : begin_ + size_;
    size_ += from.size_bytes();
    if (at == nullptr || from.empty()) return {};
    std::memcpy(at, from.data(), from.size_bytes());
    return {reinterpret_cast<const T*>(at), from.size()};
  }
  const char* keep_text(const char* text) noexcept {
    if (text == nullptr) return nullptr;
    return keep(std::span<const char>(text, std::strlen(text) + 1)).data();
  }
  std::size_t size() const noexcept { return size_; }

 private:
  unsigned char* begin_;
  std::size_t size_ = 0;
};

CodeLoad keep_load(const CodeLoad& load, Tail& tail) noexcept {
  CodeLoad kept = load;
  kept.bytes = tail.keep(load.bytes);
  const auto name = tail.keep(std::span<const char>(load.name.data(), load.name.size()));
  kept.name = {name.data(), name.size()};
  kept.unwinding.events = tail.keep(load.unwinding.events);
  kept.unwinding.ready.initial = tail.keep(load.unwinding.ready.initial);
  kept.unwinding.ready.rows = tail.keep(load.unwinding.ready.rows);
  kept.file = tail.keep_text(load.file);
  kept.lines = tail.keep(load.lines);
  for (std::size_t i = 0; i < load.lines.size(); ++i) {
    const char* file = tail.keep_text(load.lines[i].file);
    if (!kept.lines.empty()) const_cast<Line&>(kept.lines[i]).file = file;  // our own copy, made above
  }
  return kept;
}

ReentryQueue::Entry* map_entry(std::size_t tail_size) noexcept {
  const std::size_t size = sizeof(ReentryQueue::Entry) + tail_size;
  const long mapped = raw::map(size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
  if (raw::is_error(mapped)) return nullptr;
  auto* entry = new (reinterpret_cast<void*>(mapped)) ReentryQueue::Entry{};
  entry->mapping_size = size;
  return entry;
}

}  // namespace

void ReentryQueue::link(Entry* entry) noexcept {
  entry->next = newest_.load(std::memory_order_relaxed);
  while (!newest_.compare_exchange_weak(entry->next, entry, std::memory_order_release)) {
  }
}

bool ReentryQueue::push(const CodeLoad& load) noexcept {
  Tail measure(nullptr);
  (void)keep_load(load, measure);
  Entry* entry = map_entry(measure.size());
  if (entry == nullptr) return false;
  Tail tail(reinterpret_cast<unsigned char*>(entry + 1));
  entry->is_load = true;
  entry->load = keep_load(load, tail);
  link(entry);
  return true;
}

bool ReentryQueue::push(const CodeUnload& unload) noexcept {
  Entry* entry = map_entry(0);
  if (entry == nullptr) return false;
  entry->unload = unload;
  link(entry);
  return true;
}

ReentryQueue::Entry* ReentryQueue::take() noexcept {
  Entry* newest = newest_.exchange(nullptr, std::memory_order_acquire);
  Entry* oldest = nullptr;
  while (newest != nullptr) {
    Entry* next = newest->next;
    newest->next = oldest;
    oldest = newest;
    newest = next;
  }
  return oldest;
}

void ReentryQueue::give_back(Entry* entry) noexcept {
  raw::unmap(entry, entry->mapping_size);
}

}  // namespace jitquill
