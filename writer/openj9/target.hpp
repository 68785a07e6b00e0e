// For whom a trace is written: the byte order and the pointers of the traced process.
//
// Context   any; plain values. Fields puts where there is room, without asking.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace jitquill::openj9 {

struct Target {
  std::endian order = std::endian::native;
  unsigned pointer_size = 8;  // bytes, 4 or 8
};

inline constexpr Target kHost{std::endian::native, sizeof(void*)};

template <Target kTarget>
class Fields {
 public:
  static_assert(kTarget.pointer_size == 4 || kTarget.pointer_size == 8);

  constexpr explicit Fields(std::uint8_t* at) noexcept : at_(at) {}

  constexpr Fields& u8(std::uint8_t v) noexcept {
    *at_++ = v;
    return *this;
  }
  constexpr Fields& u16(std::uint16_t v) noexcept { return number<2>(v); }
  constexpr Fields& u32(std::uint32_t v) noexcept { return number<4>(v); }
  constexpr Fields& u64(std::uint64_t v) noexcept { return number<8>(v); }
  // Of a target with pointers of 4 bytes the lower half.
  constexpr Fields& pointer(std::uint64_t v) noexcept { return number<kTarget.pointer_size>(v); }
  constexpr Fields& raw(std::string_view v) noexcept {
    for (const char c : v) u8(static_cast<std::uint8_t>(c));
    return *this;
  }
  constexpr Fields& zeros(std::size_t count) noexcept {
    for (; count != 0; --count) u8(0);
    return *this;
  }
  constexpr std::uint8_t* at() const noexcept { return at_; }

 private:
  // A loop that compilers turn into one store.
  template <unsigned kSize>
  constexpr Fields& number(std::uint64_t v) noexcept {
    for (unsigned i = 0; i < kSize; ++i) {
      const unsigned place = kTarget.order == std::endian::little ? i : kSize - 1 - i;
      at_[i] = static_cast<std::uint8_t>(v >> 8 * place);
    }
    at_ += kSize;
    return *this;
  }

  std::uint8_t* at_;
};

// What Fields put.
template <Target kTarget>
constexpr std::uint64_t number_at(const std::uint8_t* at, unsigned size) noexcept {
  std::uint64_t value = 0;
  for (unsigned i = 0; i < size; ++i)
    value = value << 8 | at[kTarget.order == std::endian::big ? i : size - 1 - i];
  return value;
}

}  // namespace jitquill::openj9
