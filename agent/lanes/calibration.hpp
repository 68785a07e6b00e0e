// What the CPU's counter meant in CLOCK_MONOTONIC, at several times.
//
// Context   add_calibration(): [life] once, then [drain]; replace_last_calibration(): [drain]. read_clocks():
//           any. have_steady_ticks(): [life], a file is read.
#pragma once

#include "agent/lanes/layout.hpp"

namespace jitquill::lanes {

// Counter and CLOCK_MONOTONIC, read together.
struct ClockPair {
  std::uint64_t ticks;
  std::uint64_t ns;
};

// Of several tries the one that took the least time: the two cannot be read at once, and a thread may be
// stopped in between.
ClockPair read_clocks() noexcept;

// Into the header's ring; the first pair stays.
void add_calibration(PoolHeader& header, const ClockPair& pair) noexcept;
void replace_last_calibration(PoolHeader& header, const ClockPair& pair) noexcept;

// The counter runs at one rate and in step on all CPUs: the CPU says so, or the kernel takes it for its own
// clock. Where it does not, ticks cannot be told as times.
bool have_steady_ticks() noexcept;

}  // namespace jitquill::lanes
