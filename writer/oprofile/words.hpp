// The words that files of the OProfile ABI are made of: unsigned numbers of as many bytes as the file's
// header says, in the order that it says.
//
// Context   any; plain values.
// Promises  a number that fits() is read back as it was put.
// Does not  look whether a number fits: who stores one has asked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "writer/bytes/bytes.hpp"

namespace jitquill::oprofile {

// What the widest word holds.
__extension__ using Number = unsigned __int128;

class Words {
 public:
  static constexpr std::size_t kMostWidth = sizeof(Number);

  // As the specification wants it of the CPUs that we know: 8 bytes, little-endian.
  constexpr Words() noexcept : Words(sizeof(std::uint64_t), false) {}
  // significance[i]: of the i-th byte in the file; 0 = least. Nothing: it has each of 0 to its size - 1 once,
  // or not; or it is longer than kMostWidth.
  static std::optional<Words> in_order(std::span<const std::uint8_t> significance) noexcept;
  // 1 to kMostWidth bytes.
  static constexpr Words little_endian(std::size_t width) noexcept { return {width, false}; }
  static constexpr Words big_endian(std::size_t width) noexcept { return {width, true}; }

  std::size_t width() const noexcept { return width_; }
  std::span<const std::uint8_t> order() const noexcept { return {order_, width_}; }
  // All ones: the greatest number, and where a field is an index: none.
  Number nil() const noexcept { return static_cast<Number>(-1) >> 8 * (kMostWidth - width_); }
  bool fits(Number v) const noexcept { return v <= nil(); }

  Number load(const std::uint8_t* from) const noexcept;
  void store(std::uint8_t* to, Number v) const noexcept;
  // The same in one store of the CPU, behind all stores that come before it here and in front of all others:
  // who is killed has made it or not. It is a store of 8 or 16 bytes, of which the last are the word's; those
  // in front of them must be there, and are put back as they were.
  void store_at_once(std::uint8_t* to, Number v) const noexcept;
  void put(Bytes& out, Number v) const noexcept;

 private:
  constexpr Words(std::size_t width, bool is_big) noexcept
      : width_(static_cast<std::uint8_t>(width)), is_native_(!is_big && width == sizeof(std::uint64_t)) {
    for (std::size_t i = 0; i < width; ++i) order_[i] = static_cast<std::uint8_t>(is_big ? width - 1 - i : i);
  }

  std::uint8_t order_[kMostWidth] = {};
  std::uint8_t width_;
  bool is_native_;  // as this CPU has numbers of 64 bits
};

}  // namespace jitquill::oprofile
