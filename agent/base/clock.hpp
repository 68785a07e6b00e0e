// The one clock of everything that is written: CLOCK_MONOTONIC, as perf record -k mono.
//
// Context   [hook]: the vdso, no system call where the machine's clock source allows it.
#pragma once

#include <cstdint>
#include <ctime>

namespace jitquill {

inline std::uint64_t clock_ns(clockid_t clock) noexcept {
  timespec now{};
  (void)clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}
inline std::uint64_t monotonic_ns() noexcept {
  return clock_ns(CLOCK_MONOTONIC);
}
// Since 1970: for what says when a time of ours was.
inline std::uint64_t wall_clock_ns() noexcept {
  return clock_ns(CLOCK_REALTIME);
}

}  // namespace jitquill
