// The CPU's time counter as a clock: for recordings that cannot use CLOCK_MONOTONIC (Intel PT).
//
// perf converts such stamps with what the kernel recorded; where it recorded nothing, perf refuses the whole
// file. So they are used only where the kernel says that it can convert.
//
// Context   ticks(): [hook]. trouble(): [life], three system calls.
#pragma once

#include <cstdint>

namespace jitquill::arch_clock {

std::uint64_t ticks() noexcept;

// Null if perf will be able to convert ticks, else why not.
const char* trouble() noexcept;

}  // namespace jitquill::arch_clock
