// Numbers of what happened and of what was lost, from one table (counters.def).
//
// Context   [hook]: adding is one relaxed atomic. count_as_owner(): [notify], under the leaf lock.
// Promises  every row reaches jitquill_statistic_at() and the stats file.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace jitquill {

enum class Counter : std::size_t {
#define COUNTER(name, meaning) name,
#define LOSS(name, meaning) name,
#include "agent/base/counters.def"
#undef LOSS
#undef COUNTER
};

struct CounterRow {
  const char* name;
  const char* meaning;
  bool is_loss;
};

inline constexpr CounterRow kCounterRows[] = {
#define COUNTER(name, meaning) {#name, meaning, false},
#define LOSS(name, meaning) {#name, meaning, true},
#include "agent/base/counters.def"
#undef LOSS
#undef COUNTER
};
inline constexpr std::size_t kCounters = sizeof(kCounterRows) / sizeof(kCounterRows[0]);

extern constinit std::atomic<std::uint64_t> g_counters[kCounters];

inline void count(Counter which, std::uint64_t by = 1) noexcept {
  if (by == 0) return;  // most news counts little: no locked instruction for it
  g_counters[static_cast<std::size_t>(which)].fetch_add(by, std::memory_order_relaxed);
}
// As count(), by the owner of the leaf lock, of what nobody else counts: without a locked instruction.
inline void count_as_owner(Counter which, std::uint64_t by = 1) noexcept {
  std::atomic<std::uint64_t>& counter = g_counters[static_cast<std::size_t>(which)];
  counter.store(counter.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
}
// Of what is not counted but measured.
inline void set_count(Counter which, std::uint64_t value) noexcept {
  g_counters[static_cast<std::size_t>(which)].store(value, std::memory_order_relaxed);
}
inline std::uint64_t counted(std::size_t index) noexcept {
  return g_counters[index].load(std::memory_order_relaxed);
}

// In a new child: what its parent counted is not its own.
void reset_counters() noexcept;

}  // namespace jitquill
