#include "agent/lanes/reentry_queue.hpp"

#include <sys/mman.h>
#include <new>

#include "agent/base/load_copy.hpp"
#include "writer/bytes/raw_calls.hpp"

namespace jitquill {
namespace {

// The whole load, file names included.
CodeLoad copy_all(const CodeLoad& load, LoadCopy& copy) noexcept {
  return copy.copy(load, [&](const char* file) { return copy.keep_text(file); });
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
  LoadCopy measure(nullptr);
  (void)copy_all(load, measure);
  Entry* entry = map_entry(measure.size());
  if (entry == nullptr) return false;
  LoadCopy copy(reinterpret_cast<unsigned char*>(entry + 1));
  entry->kind = Entry::Kind::kLoad;
  entry->load = copy_all(load, copy);
  link(entry);
  return true;
}

bool ReentryQueue::push(const CodeUnload& unload) noexcept {
  Entry* entry = map_entry(0);
  if (entry == nullptr) return false;
  entry->kind = Entry::Kind::kUnload;
  entry->unload = unload;
  link(entry);
  return true;
}

bool ReentryQueue::push(const CodeMove& move) noexcept {
  Entry* entry = map_entry(0);
  if (entry == nullptr) return false;
  entry->kind = Entry::Kind::kMove;
  entry->move = move;
  link(entry);
  return true;
}

ReentryQueue::Entry* ReentryQueue::take() noexcept {
  if (newest_.load(std::memory_order_relaxed) == nullptr) return nullptr;  // mostly: no locked instruction
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
