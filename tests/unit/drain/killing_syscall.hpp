// Ends this process in the middle of one of its writes: a filter of the kernel hands them to us.
//
// Context   tests; the process that calls kill_at(), once, is a child of its own. SIGSYS is taken.
#pragma once

#include <cstdint>

namespace jitquill::tests {

enum class KillWhen : std::uint8_t { kBefore, kHalfway, kAfter };

inline constexpr int kKilled = 77;  // exit code

// At the `number`th write, truncation or renaming from now on, from 0.
void kill_at(std::uint64_t number, KillWhen when);
// How many there were since.
std::uint64_t changes_made();

}  // namespace jitquill::tests
