// What a hook has to tell the log, which it cannot reach: a fixed text, once.
//
// Context   tell_trouble(): [hook]. take_trouble(): whoever writes the log.
#pragma once

#include <atomic>

namespace jitquill::lanes {

inline constinit std::atomic<const char*> g_hook_trouble{nullptr};

// The first counts until it is taken.
inline void tell_trouble(const char* text) noexcept {
  const char* nothing = nullptr;
  (void)g_hook_trouble.compare_exchange_strong(nothing, text, std::memory_order_release,
                                               std::memory_order_relaxed);
}

// Null: nothing is new.
inline const char* take_trouble() noexcept {
  if (g_hook_trouble.load(std::memory_order_relaxed) == nullptr) return nullptr;
  return g_hook_trouble.exchange(nullptr, std::memory_order_acquire);
}

}  // namespace jitquill::lanes
