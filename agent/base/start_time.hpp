// When processes began: what is older than this one was left by an earlier process of its number.
//
// Context   [life]: reads /proc, raw system calls only.
#pragma once

#include <cstdint>

namespace jitquill {

// Seconds of CLOCK_REALTIME; up to four too early, and never too late unless that clock was set since. 0
// where /proc does not tell. An exec keeps it.
std::int64_t process_start_s() noexcept;

// When the process of that number began, in ticks since boot as /proc/<pid>/stat has it. 0: there is none, or
// /proc does not tell.
std::uint64_t process_start_ticks(std::uint32_t pid) noexcept;

// All of its threads have ended; its parent has not asked for it, and may never do. False where /proc does
// not tell.
bool is_zombie(std::uint32_t pid) noexcept;

}  // namespace jitquill
