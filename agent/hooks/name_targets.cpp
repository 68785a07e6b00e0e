#include "agent/hooks/name_targets.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>

#include <cstddef>

extern "C" {
[[gnu::visibility("hidden")]] void jitquill_native_nothing();
[[gnu::visibility("hidden")]] void jitquill_native_wake();
// Of the entry's number: where the call goes on.
[[gnu::visibility("hidden")]] const void* jitquill_native_wake_up(std::uint64_t number) noexcept;
}

namespace jitquill::name_targets {
namespace {

constexpr std::uint32_t kMostLibraries = JITQUILL_MOST_NAME_LIBRARIES;
constexpr std::uint32_t kEntries = kMostLibraries * kMostNames;
static_assert(kEntries <= 128, "an entry pushes its number as a signed byte");

struct Names {
  std::atomic<const void*>* targets;
  const void* const* hooks;
  std::uint32_t count;
  const void* without_us[kMostNames];  // null: nobody
};
constinit Names g_names[kMostLibraries] = {};
constinit std::atomic<std::uint32_t> g_count{0};
constinit std::atomic<bool> g_is_ended{false};
constinit std::atomic<Mode> g_mode{Mode::kOff};
constinit std::atomic<cpu::KeptCall> g_waker{nullptr};
constinit std::atomic<bool> g_is_waking{false};

const void* target_of(std::uint32_t library, std::uint32_t row, Mode mode) noexcept {
  const Names& names = g_names[library];
  if (mode == Mode::kOn) return names.hooks[row];
  if (mode == Mode::kWake)
    return reinterpret_cast<const std::uint8_t*>(&jitquill_native_wake) +
           (library * kMostNames + row) * JITQUILL_WAKE_ENTRY_SIZE;
  const void* const off = names.without_us[row];
  return off != nullptr ? off : reinterpret_cast<const void*>(&jitquill_native_nothing);
}

void store_all(Mode mode) noexcept {
  g_mode.store(mode);
  const std::uint32_t count = g_count.load(std::memory_order_acquire);
  for (std::uint32_t i = 0; i < count; ++i) {
    const Names& names = g_names[i];
    for (std::uint32_t row = 0; row < names.count; ++row) names.targets[row].store(target_of(i, row, mode));
  }
}

// In memory of its own: a host's stack may be small.
void call_waker() noexcept {
  const cpu::KeptCall waker = g_waker.load();
  if (waker == nullptr || !cpu::can_keep_vectors()) return;
  const long area =
      cpu::kernel_call(SYS_mmap, nullptr, cpu::kVectorAreaSize, static_cast<long>(PROT_READ | PROT_WRITE),
                       static_cast<long>(MAP_PRIVATE | MAP_ANONYMOUS), -1L, 0L);
  if (area < 0 && area > -4096) return;
  (void)cpu::jitquill_call_keeping_vectors(waker, 0, nullptr, reinterpret_cast<void*>(area));
  (void)cpu::kernel_call(SYS_munmap, area, cpu::kVectorAreaSize);
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
void turn(Mode mode) noexcept {
  store_all(g_is_ended.load() ? Mode::kOff : mode);
  if (g_is_ended.load()) store_all(Mode::kOff);
}

bool are_on() noexcept {
  return g_mode.load(std::memory_order_relaxed) == Mode::kOn;
}

bool is_call_awaited() noexcept {
  return g_mode.load(std::memory_order_relaxed) == Mode::kWake;
}

void end_for_good() noexcept {
  g_is_ended.store(true);
  store_all(Mode::kOff);
}

void wake_by(cpu::KeptCall waker) noexcept {
  g_waker.store(waker);
}

void wake_in_child() noexcept {
  g_is_waking.store(false);
  if (g_mode.load() == Mode::kOn) turn(Mode::kWake);
}

}  // namespace jitquill::name_targets

using namespace jitquill::name_targets;

// A call that comes while another wakes the agent, or from inside of that, is left out: it goes on as its own
// library's name would without us, which may be the next library's.
const void* jitquill_native_wake_up(std::uint64_t number) noexcept {
  bool was_waking = false;
  if (g_is_waking.compare_exchange_strong(was_waking, true)) {
    if (g_mode.load() == Mode::kWake) call_waker();
    g_is_waking.store(false);
  }
  const Mode mode = g_mode.load();
  const auto entry = static_cast<std::uint32_t>(number);
  return target_of(entry / kMostNames, entry % kMostNames, mode == Mode::kOn ? mode : Mode::kOff);
}
