// The one lock of all intakes: over their notes of what they are attached to, and over plugins, which are
// not made for several threads.
//
// It is taken before the leaf lock, never inside it, and by nobody who holds a lock of ours but this one. A
// runtime's own locks may be held by the caller: so under it nothing of a runtime is called that could wait
// for them.
//
// Context   [notify], [life], as owner_lock.hpp. fork() waits for it (life/birth.cpp).
#pragma once

#include <cstdint>

#include "agent/base/guest_call.hpp"
#include "agent/base/owner_lock.hpp"
#include "agent/base/process_page.hpp"

namespace jitquill::intake {

class IntakeLock {
 public:
  static OwnerLock::Entry lock(std::uint64_t wait_ns = OwnerLock::kForever) noexcept {
    return OwnerLock::lock(process_page().intakes_lock_word, wait_ns);
  }
  static void unlock() noexcept { OwnerLock::unlock(process_page().intakes_lock_word); }
};

// Runs body() under the lock; nothing if this thread is inside already, since what would come of that is a
// runtime that reacts to our own doing, nor if the lock is not free within `wait_ns`. False then.
template <class Body>
bool under_intake_lock(Body body, std::uint64_t wait_ns = OwnerLock::kForever) {
  return guest_call([&] {
    if (IntakeLock::lock(wait_ns) != OwnerLock::Entry::kTaken) return false;
    body();
    IntakeLock::unlock();
    return true;
  });
}

// Runs body() under the lock, also if this thread has it already: for what an intake calls from both.
template <class Body>
auto while_locked(Body body) {
  return guest_call([&] {
    const bool is_mine = IntakeLock::lock() == OwnerLock::Entry::kAlreadyMine;
    const auto result = body();
    if (!is_mine) IntakeLock::unlock();
    return result;
  });
}

}  // namespace jitquill::intake
