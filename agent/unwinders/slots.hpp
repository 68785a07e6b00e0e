// Which parts of a section's memory hold entries: a bitmap of units, and runs of equal bits in it.
//
// Context   one owner at a time; plain memory.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace jitquill::unwinders {

inline constexpr std::uint32_t kUnitSize = 32;  // bytes
inline constexpr std::uint32_t kUnits = 16384;  // 512 KiB, on average four for each function

class UnitMap {
 public:
  bool is_set(std::uint32_t unit) const noexcept { return (words_[unit / 64] >> (unit % 64) & 1) != 0; }
  void set(std::uint32_t from, std::uint32_t count, bool on) noexcept {
    for (std::uint32_t unit = from; unit < from + count; ++unit) {
      const std::uint64_t bit = std::uint64_t{1} << (unit % 64);
      words_[unit / 64] = on ? words_[unit / 64] | bit : words_[unit / 64] & ~bit;
    }
  }
  void clear() noexcept { *this = UnitMap{}; }

  // The first unit from `from` on, below `end`, whose bit is `on`; else `end`.
  std::uint32_t next(std::uint32_t from, std::uint32_t end, bool on) const noexcept {
    while (from < end) {
      const std::uint64_t word = (on ? words_[from / 64] : ~words_[from / 64]) >> (from % 64);
      if (word != 0) {
        const std::uint32_t found = from + static_cast<std::uint32_t>(std::countr_zero(word));
        return found < end ? found : end;
      }
      from = (from / 64 + 1) * 64;
    }
    return end;
  }
  // Where the run of clear bits begins that ends in front of `end`; `end` if there is none.
  std::uint32_t run_before(std::uint32_t end) const noexcept {
    while (end > 0) {
      const std::uint32_t bits = (end - 1) % 64 + 1;
      const std::uint64_t word = words_[(end - 1) / 64] << (64 - bits);
      const auto clear = static_cast<std::uint32_t>(std::countl_zero(word));
      if (clear < bits) return end - clear;
      end -= bits;
    }
    return 0;
  }
  // The first run of `count` clear bits; kUnits if there is none.
  std::uint32_t find_clear(std::uint32_t count) const noexcept {
    for (std::uint32_t at = next(0, kUnits, false); at < kUnits; at = next(at, kUnits, false)) {
      const std::uint32_t end = next(at, kUnits, true);
      if (end - at >= count) return at;
      at = end;
    }
    return kUnits;
  }

 private:
  std::uint64_t words_[kUnits / 64] = {};
};

}  // namespace jitquill::unwinders
