#include "agent/lanes/calibration.hpp"

#include <fcntl.h>

#include <iterator>
#include <string_view>

#include "agent/base/clock.hpp"
#include "agent/hooks/cpu.hpp"
#include "writer/bytes/raw_calls.hpp"

namespace jitquill::lanes {
namespace {

constexpr int kTries = 5;

// The place of the `count`th pair.
Calibration& place_of(PoolHeader& header, std::uint64_t count) noexcept {
  constexpr std::uint64_t kRing = std::size(PoolHeader{}.calibrations) - 1;
  return header.calibrations[count == 0 ? 0 : 1 + (count - 1) % kRing];
}

void put(Calibration& at, const ClockPair& pair) noexcept {
  at.ticks.store(0, std::memory_order_release);
  at.ns.store(pair.ns, std::memory_order_release);
  at.ticks.store(pair.ticks, std::memory_order_release);
}

}  // namespace

ClockPair read_clocks() noexcept {
  ClockPair best{};
  std::uint64_t best_took = ~std::uint64_t{0};
  for (int i = 0; i < kTries; ++i) {
    const std::uint64_t before = cpu::ticks();
    const std::uint64_t ns = monotonic_ns();
    const std::uint64_t took = cpu::ticks() - before;
    if (took >= best_took) continue;
    best_took = took;
    best = {before + took / 2, ns};
  }
  return best;
}

void add_calibration(PoolHeader& header, const ClockPair& pair) noexcept {
  const std::uint64_t count = header.calibration_count.load(std::memory_order_relaxed);
  put(place_of(header, count), pair);
  header.calibration_count.store(count + 1, std::memory_order_release);
}

void replace_last_calibration(PoolHeader& header, const ClockPair& pair) noexcept {
  const std::uint64_t count = header.calibration_count.load(std::memory_order_relaxed);
  if (count != 0) put(place_of(header, count - 1), pair);
}

bool have_steady_ticks() noexcept {
  if (cpu::has_steady_ticks()) return true;
  const int file = raw::open_at(AT_FDCWD, "/sys/devices/system/clocksource/clocksource0/current_clocksource",
                                O_RDONLY | O_CLOEXEC, 0);
  if (file < 0) return false;
  char text[16];
  const long size = raw::call(SYS_read, file, text, sizeof text);
  raw::close(file);
  return size > 0 && std::string_view(text, static_cast<std::size_t>(size)).starts_with("tsc");
}

}  // namespace jitquill::lanes
