// A hash of words, for tables in memory: in no format.
//
// Context   any; arithmetic.
#pragma once

#include <cstdint>

namespace jitquill {

// 2^64 divided by the golden ratio, odd: spreads what differs in few bits.
inline constexpr std::uint64_t kGoldenRatio = 0x9E3779B97F4A7C15;

// The high bits depend on all that was mixed in.
constexpr std::uint64_t mix(std::uint64_t hash, std::uint64_t word) noexcept {
  const std::uint64_t product = (hash ^ word) * kGoldenRatio;
  return product ^ product >> 32;
}

}  // namespace jitquill
