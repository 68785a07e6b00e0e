// The lock of run news' reading side: the drain, its sinks and their files.
//
// Whoever holds it allocates from an arena of its own (operator_new.cpp), since the other one is the leaf
// lock's. What is made under it is therefore freed under it.
//
// Taken by the drain's thread for each pass, and by whoever starts, stops or leaves. The leaf lock's owner
// may take it, never the other way round: a drain that has something to tell lets go first.
//
// Context   [drain], [life], as owner_lock.hpp. fork() does not wait for it: a child forgets all that is
//           under it.
#pragma once

#include <cstdint>

#include "agent/base/owner_lock.hpp"
#include "agent/base/process_page.hpp"

namespace jitquill {

class DrainLock {
 public:
  static OwnerLock::Entry lock(std::uint64_t wait_ns = OwnerLock::kForever) noexcept {
    return OwnerLock::lock(process_page().drain_lock_word, wait_ns);
  }
  static bool is_mine() noexcept { return OwnerLock::is_mine(process_page().drain_lock_word); }
  static void unlock() noexcept { OwnerLock::unlock(process_page().drain_lock_word); }
};

}  // namespace jitquill
