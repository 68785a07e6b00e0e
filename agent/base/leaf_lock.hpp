// The one lock of code news. Nothing is called back, waited for or allocated from the host while it is held.
//
// A thread that asks for what it already holds (a fault handler or an atfork handler that announces code in
// the middle of our work) is told so.
//
// Context   [notify], [life], as owner_lock.hpp.
#pragma once

#include "agent/base/owner_lock.hpp"
#include "agent/base/process_page.hpp"

namespace jitquill {

class LeafLock {
 public:
  using Entry = OwnerLock::Entry;

  static Entry lock(std::uint64_t wait_ns = OwnerLock::kForever) noexcept {
    return OwnerLock::lock(process_page().lock_word, wait_ns);
  }
  static bool is_mine() noexcept { return OwnerLock::is_mine(process_page().lock_word); }
  static void unlock() noexcept { OwnerLock::unlock(process_page().lock_word); }
};

}  // namespace jitquill
