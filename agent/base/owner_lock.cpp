#include "agent/base/owner_lock.hpp"

#include <linux/futex.h>
#include <ctime>

#include "agent/base/clock.hpp"
#include "agent/base/thread_id.hpp"
#include "writer/bytes/raw_calls.hpp"

// Of a host that was built with ThreadSanitizer. It sees the memcpy() inside the agent, which is the C
// library's, but no lock made of raw system calls: told of nothing, it would report a race for each two
// threads that announce.
extern "C" {
[[gnu::weak]] void __tsan_acquire(void* lock);
[[gnu::weak]] void __tsan_release(void* lock);
}

namespace jitquill {
namespace {

// word = 0 | owner's tid | owner's tid + kWaiters. Kernel tids stay below 2^22.
constexpr std::uint32_t kWaiters = 0x80000000u;

void sleep_while(std::atomic<std::uint32_t>& word, std::uint32_t value, const timespec* wait) noexcept {
  (void)raw::call(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, wait, nullptr, 0);
}

OwnerLock::Entry lock_contended(std::atomic<std::uint32_t>& word, std::uint32_t tid,
                                std::uint64_t wait_ns) noexcept {
  const bool bounded = wait_ns != OwnerLock::kForever;
  const std::uint64_t deadline_ns = bounded ? monotonic_ns() + wait_ns : 0;
  std::uint32_t seen = word.load(std::memory_order_relaxed);
  for (;;) {
    if (seen == 0) {
      // Others may still sleep, so the next unlock must wake one.
      if (word.compare_exchange_weak(seen, tid | kWaiters, std::memory_order_acquire))
        return OwnerLock::Entry::kTaken;
      continue;
    }
    if ((seen & kWaiters) == 0 &&
        !word.compare_exchange_weak(seen, seen | kWaiters, std::memory_order_relaxed))
      continue;
    timespec wait{};
    if (bounded) {
      const std::uint64_t now_ns = monotonic_ns();
      if (now_ns >= deadline_ns) return OwnerLock::Entry::kTimedOut;
      wait.tv_sec = static_cast<time_t>((deadline_ns - now_ns) / 1'000'000'000u);
      wait.tv_nsec = static_cast<long>((deadline_ns - now_ns) % 1'000'000'000u);
    }
    sleep_while(word, seen | kWaiters, bounded ? &wait : nullptr);
    seen = word.load(std::memory_order_relaxed);
  }
}

OwnerLock::Entry take(std::atomic<std::uint32_t>& word, std::uint64_t wait_ns) noexcept {
  const std::uint32_t tid = current_tid();
  std::uint32_t seen = 0;
  if (word.compare_exchange_strong(seen, tid, std::memory_order_acquire)) return OwnerLock::Entry::kTaken;
  if ((seen & ~kWaiters) == tid) return OwnerLock::Entry::kAlreadyMine;
  return lock_contended(word, tid, wait_ns);
}

}  // namespace

OwnerLock::Entry OwnerLock::lock(std::atomic<std::uint32_t>& word, std::uint64_t wait_ns) noexcept {
  const Entry entry = take(word, wait_ns);
  if (entry == Entry::kTaken && __tsan_acquire != nullptr) __tsan_acquire(&word);
  return entry;
}

bool OwnerLock::is_mine(const std::atomic<std::uint32_t>& word) noexcept {
  return (word.load(std::memory_order_relaxed) & ~kWaiters) == current_tid();
}

void OwnerLock::unlock(std::atomic<std::uint32_t>& word) noexcept {
  if (__tsan_release != nullptr) __tsan_release(&word);
  if ((word.exchange(0, std::memory_order_release) & kWaiters) == 0) return;
  (void)raw::call(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

}  // namespace jitquill
