// Tells whether bytes are as they were written: of files that a killed process left.
//
// Context   any.
// Promises  any one changed bit, and any one changed word of 8 bytes, changes it. No secret: it is not for
//           files that somebody damages on purpose.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>

namespace jitquill {

inline std::uint64_t checksum_of(std::span<const std::uint8_t> bytes) noexcept {
  // Both steps can be undone, so no difference is lost on the way.
  const auto mixed = [](std::uint64_t sum, std::uint64_t word) {
    sum = (sum ^ word) * 0x9E3779B97F4A7C15ULL;
    return sum ^ sum >> 29;
  };
  std::uint64_t sum = mixed(0x4A51, bytes.size());
  std::size_t at = 0;
  for (std::uint64_t word = 0; at + sizeof word <= bytes.size(); at += sizeof word) {
    std::memcpy(&word, bytes.data() + at, sizeof word);
    sum = mixed(sum, word);
  }
  std::uint64_t rest = 0;
  if (at < bytes.size()) std::memcpy(&rest, bytes.data() + at, bytes.size() - at);
  return mixed(sum, rest);
}

}  // namespace jitquill
