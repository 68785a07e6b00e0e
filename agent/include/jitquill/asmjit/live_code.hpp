// What a runtime has announced and not yet withdrawn, so that a release of memory, a reset or the end of the
// runtime says so for every function in it.
//
// Context   any thread; one leaf lock, nothing is called while it is held but malloc and free.
#pragma once

#include <jitquill/jitquill.h>
#include <jitquill/asmjit/motion.hpp>
#include <jitquill/asmjit/rows.hpp>

#include <algorithm>
#include <cstdint>
#include <mutex>

namespace jitquill::asmjit_detail {

class LiveCode {
 public:
  LiveCode() noexcept = default;
  LiveCode(const LiveCode&) = delete;
  LiveCode& operator=(const LiveCode&) = delete;
  ~LiveCode() {
    withdraw_all();
    std::free(buckets_);
  }

  struct Entry {
    Entry* next;
    const char* base;
    Motion* motion;  // null: it does not move
    std::size_t count;
    std::uint64_t* starts() noexcept { return reinterpret_cast<std::uint64_t*>(this + 1); }
  };

  // Makes room to remember; before announcing. False: out of memory. `motion` is ours, whatever the answer.
  bool put(const void* base, const Rows<std::uint64_t>& starts, Motion* motion) noexcept;
  // The entry of an allocation that is about to move, null if there is none; put it back with its new base.
  Entry* take(const void* base) noexcept;
  bool put(Entry* entry) noexcept;
  // Announces the unload of all that was announced for this allocation. Nothing if there is none.
  void withdraw(const void* base) noexcept;
  void withdraw_all() noexcept;

 private:
  static void unload(Entry* entry) noexcept {
    for (std::size_t i = 0; i < entry->count; ++i) jitquill_code_unloaded(entry->base + entry->starts()[i]);
    forget(entry);
  }
  static void forget(Entry* entry) noexcept {
    if (entry->motion != nullptr) entry->motion->~Motion();
    std::free(entry->motion);
    std::free(entry);
  }
  std::size_t bucket(const void* base) const noexcept {
    // Allocations are 64 bytes apart; the multiplier is 2^64 divided by the golden ratio.
    return static_cast<std::size_t>((reinterpret_cast<std::uintptr_t>(base) >> 6) * 0x9E3779B97F4A7C15u >>
                                    32) &
           (bucket_count_ - 1);
  }
  bool grow() noexcept;

  std::mutex lock_;
  Entry** buckets_ = nullptr;
  std::size_t bucket_count_ = 0;  // a power of two
  std::size_t entries_ = 0;
};

inline bool LiveCode::put(const void* base, const Rows<std::uint64_t>& starts, Motion* motion) noexcept {
  auto* entry = static_cast<Entry*>(std::malloc(sizeof(Entry) + starts.size() * sizeof(std::uint64_t)));
  if (entry == nullptr) {
    if (motion != nullptr) motion->~Motion();
    std::free(motion);
    return false;
  }
  entry->base = static_cast<const char*>(base);
  entry->motion = motion;
  entry->count = starts.size();
  std::copy(starts.begin(), starts.end(), entry->starts());
  return put(entry);
}

inline bool LiveCode::put(Entry* entry) noexcept {
  const std::lock_guard<std::mutex> hold(lock_);
  if (entries_ >= bucket_count_ && !grow()) {
    forget(entry);
    return false;
  }
  Entry*& head = buckets_[bucket(entry->base)];
  entry->next = head;
  head = entry;
  ++entries_;
  return true;
}

inline LiveCode::Entry* LiveCode::take(const void* base) noexcept {
  const std::lock_guard<std::mutex> hold(lock_);
  if (bucket_count_ == 0) return nullptr;
  for (Entry** at = &buckets_[bucket(base)]; *at != nullptr; at = &(*at)->next) {
    if ((*at)->base != base) continue;
    Entry* const found = *at;
    *at = found->next;
    --entries_;
    return found;
  }
  return nullptr;
}

inline void LiveCode::withdraw(const void* base) noexcept {
  if (Entry* const found = take(base); found != nullptr) unload(found);
}

inline void LiveCode::withdraw_all() noexcept {
  Entry* all = nullptr;
  {
    const std::lock_guard<std::mutex> hold(lock_);
    for (std::size_t i = 0; i < bucket_count_; ++i) {
      while (Entry* entry = buckets_[i]) {
        buckets_[i] = entry->next;
        entry->next = all;
        all = entry;
      }
    }
    entries_ = 0;
  }
  while (Entry* entry = all) {
    all = entry->next;
    unload(entry);
  }
}

inline bool LiveCode::grow() noexcept {
  const std::size_t old_count = bucket_count_;
  const std::size_t count = old_count == 0 ? 64 : old_count * 2;
  auto** buckets = static_cast<Entry**>(std::calloc(count, sizeof(Entry*)));
  if (buckets == nullptr) return false;
  bucket_count_ = count;
  for (std::size_t i = 0; i < old_count; ++i) {
    while (Entry* entry = buckets_[i]) {
      buckets_[i] = entry->next;
      Entry*& head = buckets[bucket(entry->base)];
      entry->next = head;
      head = entry;
    }
  }
  std::free(buckets_);
  buckets_ = buckets;
  return true;
}

}  // namespace jitquill::asmjit_detail
