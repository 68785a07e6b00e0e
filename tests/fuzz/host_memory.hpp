// The host's memory that inputs point into, at addresses that an input can know: executable pages and pages
// of data, each with pages behind them that nobody can read.
//
// Context   fuzzers.
#pragma once

#include <cstdint>
#include <span>

namespace fuzz {

inline constexpr std::uint64_t kPage = 4096;
inline constexpr std::uint64_t kCode = 0x200000000000;
inline constexpr std::uint64_t kCodeSize = 16 * kPage;
inline constexpr std::uint64_t kNowhere = kCode + kCodeSize;
inline constexpr std::uint64_t kData = kNowhere + kPage;
inline constexpr std::uint64_t kDataSize = 4 * kPage;
inline constexpr std::uint64_t kDataEnd = kData + kDataSize;

// Maps it once, and fills it with zeroes each time.
void clear_host_memory();
inline std::uint8_t* at(std::uint64_t address) {
  return reinterpret_cast<std::uint8_t*>(address);
}
// Copies what fits into the executable pages.
void put_code(std::uint64_t address, std::span<const std::uint8_t> bytes);

}  // namespace fuzz
