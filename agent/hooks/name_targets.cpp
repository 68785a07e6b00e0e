#include "agent/hooks/name_targets.hpp"

#include <cstddef>

extern "C" [[gnu::visibility("hidden")]] void jitquill_native_nothing();

namespace jitquill::name_targets {
namespace {

constexpr std::uint32_t kMostLibraries = 4;

struct Names {
  std::atomic<const void*>* targets;
  const void* const* hooks;
  std::uint32_t count;
  const void* without_us[kMostNames];  // null: nobody
};
constinit Names g_names[kMostLibraries] = {};
constinit std::atomic<std::uint32_t> g_count{0};
constinit std::atomic<bool> g_is_ended{false};

void store_all(bool on) noexcept {
  const std::uint32_t count = g_count.load(std::memory_order_acquire);
  for (std::uint32_t i = 0; i < count; ++i) {
    const Names& names = g_names[i];
    for (std::uint32_t row = 0; row < names.count; ++row) {
      const void* const off = names.without_us[row];
      const auto* const nobody = reinterpret_cast<const void*>(&jitquill_native_nothing);
      const void* const target = on ? names.hooks[row] : off != nullptr ? off : nobody;
      names.targets[row].store(target);
    }
  }
}

}  // namespace

void add(std::atomic<const void*>* targets, const void* const* hooks, std::uint32_t count) noexcept {
  const std::uint32_t at = g_count.load(std::memory_order_relaxed);
  if (at == kMostLibraries) return;
  Names& names = g_names[at];
  names = {targets, hooks, count < kMostNames ? count : kMostNames, {}};
  for (std::uint32_t row = 0; row < names.count; ++row) names.without_us[row] = targets[row].load();
  g_count.store(at + 1, std::memory_order_release);
}

// The two may be at it at once: whoever is second sees the other.
void turn(bool on) noexcept {
  store_all(on && !g_is_ended.load());
  if (on && g_is_ended.load()) store_all(false);
}

void end_for_good() noexcept {
  g_is_ended.store(true);
  store_all(false);
}

}  // namespace jitquill::name_targets
