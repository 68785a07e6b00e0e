// What the CPU's counter meant in CLOCK_MONOTONIC, at several times.
//
// Context   calibrate(): [life] once, then [drain]. have_steady_ticks(): [life], a file is read.
#pragma once

#include "agent/lanes/layout.hpp"

namespace jitquill::lanes {

// Puts one pair into the header's ring; the first pair stays. Of several tries the one that took the least
// time: the two clocks cannot be read at once.
void calibrate(PoolHeader& header) noexcept;

// The counter runs at one rate and in step on all CPUs: the CPU says so, or the kernel takes it for its own
// clock. Where it does not, ticks cannot be told as times.
bool have_steady_ticks() noexcept;

}  // namespace jitquill::lanes
