// The one lock of code news. Nothing is called back, waited for or allocated from the host while it is held.
//
// The word is the owner's tid, in the process page: a child finds it free, whoever held it in the parent.
// A thread that asks for what it already holds (a fault handler or an atfork handler that announces code in
// the middle of our work) is told so instead of waiting for itself.
//
// Context   [notify], [life], inside guest_call() only: an owner that takes a signal would deadlock with its
// handler. Promises  raw system calls only. Sleeps in the kernel when contended.
#pragma once

#include <cstdint>

namespace jitquill {

class LeafLock {
 public:
  enum class Entry { kTaken, kAlreadyMine, kTimedOut };

  static constexpr std::uint64_t kForever = ~std::uint64_t{0};

  // kTimedOut only with a bound: for exits, which must not hang on a thread that will never run again.
  static Entry lock(std::uint64_t wait_ns = kForever) noexcept;
  static void unlock() noexcept;
};

}  // namespace jitquill
