// A number for each key: open addressing, since neither ids nor addresses that nobody announced have a bound.
//
// Context   one thread at a time. Allocates by nothrow operator new.
// Promises  running out of memory is a false, and what was in it stays.
// Does not  hold the value kNone, nor take out a single key.
#pragma once

#include <cstddef>
#include <cstdint>

#include "writer/bytes/growing_array.hpp"

namespace jitquill {

class NumberTable {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  std::uint32_t find(std::uint64_t key) const noexcept;
  void clear() noexcept {
    cells_.clear();
    used_ = 0;
  }
  bool put(std::uint64_t key, std::uint32_t value) noexcept;  // a new key or an old one; false: no memory

 private:
  struct Cell {
    std::uint64_t key;
    std::uint32_t value;  // kNone = empty
  };
  std::size_t place_of(std::uint64_t key) const noexcept;

  GrowingArray<Cell> cells_;  // a power of two of them
  std::size_t used_ = 0;
};

}  // namespace jitquill
