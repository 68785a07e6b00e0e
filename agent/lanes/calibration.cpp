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

struct Pair {
  std::uint64_t ns = 0;
  std::uint64_t ticks = 0;
};

Pair tightest_pair() noexcept {
  Pair best;
  std::uint64_t best_took = ~std::uint64_t{0};
  for (int i = 0; i < kTries; ++i) {
    const std::uint64_t before = cpu::ticks();
    const std::uint64_t ns = monotonic_ns();
    const std::uint64_t took = cpu::ticks() - before;
    if (took >= best_took) continue;
    best_took = took;
    best = {ns, before + took / 2};
  }
  return best;
}

}  // namespace

void calibrate(PoolHeader& header) noexcept {
  constexpr std::uint64_t kRing = std::size(PoolHeader{}.calibrations);
  const std::uint64_t count = header.calibration_count.load(std::memory_order_relaxed);
  Calibration& at = header.calibrations[count == 0 ? 0 : 1 + (count - 1) % (kRing - 1)];
  const Pair pair = tightest_pair();
  at.ticks.store(0, std::memory_order_relaxed);
  at.ns.store(pair.ns, std::memory_order_release);
  at.ticks.store(pair.ticks, std::memory_order_release);
  header.calibration_count.store(count + 1, std::memory_order_release);
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
