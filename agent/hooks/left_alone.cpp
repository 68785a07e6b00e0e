#include "agent/hooks/left_alone.hpp"

#include <atomic>

#include "agent/hooks/x86_64/mirror_numbers.h"

extern "C" {
[[gnu::visibility("hidden")]] constinit std::atomic<std::uint64_t>
    jitquill_left_alone[JITQUILL_LEFT_ALONE_MASK + 1]{};
}

namespace jitquill::left_alone {
namespace {

constinit std::uint64_t g_low = 0, g_high = 0;
constinit bool g_is_empty = true;

}  // namespace

void may_hold(std::uint64_t low, std::uint64_t high) noexcept {
  if (g_high == 0 || low < g_low) g_low = low;
  if (high > g_high) g_high = high;
}

void add(std::uint64_t site) noexcept {
  if (site < g_low || site >= g_high) return;
  std::atomic<std::uint64_t>& place = jitquill_left_alone[site & JITQUILL_LEFT_ALONE_MASK];
  if (place.load(std::memory_order_relaxed) != 0) return;
  place.store(site, std::memory_order_relaxed);
  g_is_empty = false;
}

void clear() noexcept {
  if (g_is_empty) return;
  for (std::atomic<std::uint64_t>& place : jitquill_left_alone) place.store(0, std::memory_order_relaxed);
  g_is_empty = true;
}

}  // namespace jitquill::left_alone
