#include "agent/base/counters.hpp"

namespace jitquill {

constinit std::atomic<std::uint64_t> g_counters[kCounters]{};

void reset_counters() noexcept {
  for (auto& counter : g_counters) counter.store(0, std::memory_order_relaxed);
}

}  // namespace jitquill
