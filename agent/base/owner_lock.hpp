// A lock whose word is its owner's tid: the owner that asks again is told so instead of waiting for itself.
//
// The word lies in the process page, so that a child finds it free, whoever held it in the parent.
//
// Context   [notify], [life], inside guest_call() only: an owner that takes a signal would deadlock with its
//           handler.
// Promises  raw system calls only. Sleeps in the kernel when contended.
#pragma once

#include <atomic>
#include <cstdint>

namespace jitquill {

class OwnerLock {
 public:
  enum class Entry { kTaken, kAlreadyMine, kTimedOut };

  static constexpr std::uint64_t kForever = ~std::uint64_t{0};

  // kTimedOut only with a bound: for exits, which must not hang on a thread that will never run again.
  static Entry lock(std::atomic<std::uint32_t>& word, std::uint64_t wait_ns = kForever) noexcept;
  static bool is_mine(const std::atomic<std::uint32_t>& word) noexcept;
  static void unlock(std::atomic<std::uint32_t>& word) noexcept;
};

}  // namespace jitquill
