#include "agent/stacks/step_lock.hpp"

#include <atomic>

#include "agent/base/owner_lock.hpp"

namespace jitquill::stacks {
namespace {

constinit std::atomic<std::uint32_t> g_word{0};

}  // namespace

bool StepLock::lock() noexcept {
  return OwnerLock::lock(g_word, kMostWaitNs) == OwnerLock::Entry::kTaken;
}

void StepLock::unlock() noexcept {
  OwnerLock::unlock(g_word);
}

void StepLock::forget() noexcept {
  g_word.store(0, std::memory_order_relaxed);
}

bool StepLock::was_cut_off() noexcept {
  return g_word.exchange(0, std::memory_order_relaxed) != 0;
}

}  // namespace jitquill::stacks
