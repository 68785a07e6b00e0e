// The lock of the pool's lists: as base/owner_lock.hpp, but of what a hook may call (general registers, no
// libc), and never waited for longer than a record is worth.
//
// Context   [hook] and [drain], asynchronous signals blocked.
// Promises  a child finds it free: the word lies in the pool's page. An owner that kept one hook waiting for
//           all of its time, as one that a debugger stopped, keeps no other waiting.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>

#include <atomic>
#include <cstdint>

#include "agent/lanes/pool_page.hpp"

namespace jitquill::lanes {

struct KernelTime {
  std::int64_t s;
  std::int64_t ns;
};

inline std::uint64_t kernel_monotonic_ns() noexcept {
  constexpr int kMonotonic = 1;  // CLOCK_MONOTONIC
  KernelTime now{};
  (void)cpu::kernel_call(SYS_clock_gettime, kMonotonic, &now);
  return static_cast<std::uint64_t>(now.s) * 1'000'000'000u + static_cast<std::uint64_t>(now.ns);
}

inline void sleep_on(std::atomic<std::uint32_t>& word, std::uint32_t while_it_is, std::uint64_t ns) noexcept {
  const KernelTime wait{static_cast<std::int64_t>(ns / 1'000'000'000u),
                        static_cast<std::int64_t>(ns % 1'000'000'000u)};
  (void)cpu::kernel_call(SYS_futex, &word, FUTEX_WAIT_PRIVATE, while_it_is, &wait, nullptr, 0);
}
inline void wake(std::atomic<std::uint32_t>& word, int threads) noexcept {
  (void)cpu::kernel_call(SYS_futex, &word, FUTEX_WAKE_PRIVATE, threads, nullptr, nullptr, 0);
}

// word = 0 | owner's tid | owner's tid + kWaiters
class PoolLock {
 public:
  // Of a hook. Where nothing may be lost it waits for as long as for room.
  explicit PoolLock(PoolPage& pool) noexcept
      : PoolLock(pool, pool.policy == Policy::kLossless ? kMostWait_ns : kShortWait_ns) {}
  // Of the drain: whoever has it is waited for.
  static PoolLock of_drain(PoolPage& pool) noexcept { return PoolLock(pool, kForever); }
  ~PoolLock() {
    if (!is_taken_) return;
    pool_.lock_turn.store(pool_.lock_turn.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    if ((word_.exchange(0, std::memory_order_release) & kWaiters) != 0) wake(word_, 1);
  }
  PoolLock(const PoolLock&) = delete;
  PoolLock& operator=(const PoolLock&) = delete;

  // Not: it was not to be had in time, or a fault handler of its owner asks.
  bool is_taken() const noexcept { return is_taken_; }

 private:
  static constexpr std::uint32_t kWaiters = 0x80000000u;
  static constexpr std::uint64_t kShortWait_ns = 100'000'000;
  static constexpr std::uint64_t kForever = ~std::uint64_t{0};

  PoolLock(PoolPage& pool, std::uint64_t most_wait_ns) noexcept
      : pool_(pool), word_(pool.lock_word), tid_(static_cast<std::uint32_t>(cpu::kernel_call(SYS_gettid))) {
    std::uint32_t seen = 0;
    is_taken_ = word_.compare_exchange_strong(seen, tid_, std::memory_order_acquire) ||
                take_in_time(seen, most_wait_ns);
  }

  bool take_in_time(std::uint32_t seen, std::uint64_t most_wait_ns) noexcept {
    const std::uint64_t start_ns = kernel_monotonic_ns();
    const std::uint32_t turn = pool_.lock_turn.load(std::memory_order_relaxed);
    for (;;) {
      if ((seen & ~kWaiters) == tid_) return false;
      if (seen == 0) {
        if (word_.compare_exchange_weak(seen, tid_ | kWaiters, std::memory_order_acquire)) return true;
        continue;
      }
      if ((seen & kWaiters) == 0 &&
          !word_.compare_exchange_weak(seen, seen | kWaiters, std::memory_order_relaxed))
        continue;
      const std::uint64_t waited_ns = kernel_monotonic_ns() - start_ns;
      if (most_wait_ns != kForever && (is_stuck() || waited_ns >= most_wait_ns)) {
        if (is_turn(turn)) pool_.stuck_turn.store(turn + 1, std::memory_order_relaxed);
        return false;
      }
      sleep_on(word_, seen | kWaiters, most_wait_ns != kForever ? most_wait_ns - waited_ns : kMostWait_ns);
      seen = word_.load(std::memory_order_relaxed);
    }
  }

  bool is_turn(std::uint32_t turn) const noexcept {
    return pool_.lock_turn.load(std::memory_order_relaxed) == turn;
  }
  bool is_stuck() const noexcept { return is_turn(pool_.stuck_turn.load(std::memory_order_relaxed) - 1); }

  PoolPage& pool_;
  std::atomic<std::uint32_t>& word_;
  const std::uint32_t tid_;
  bool is_taken_ = false;
};

}  // namespace jitquill::lanes
