// When this process began, as file times have it: what is older was left by an earlier process of its number.
//
// Context   [life]: reads /proc, raw system calls only.
#pragma once

#include <cstdint>

namespace jitquill {

// Seconds of CLOCK_REALTIME; up to four too early, and never too late unless that clock was set since. 0
// where /proc does not tell. An exec keeps it.
std::int64_t process_start_s() noexcept;

}  // namespace jitquill
