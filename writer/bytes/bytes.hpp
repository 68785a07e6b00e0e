// A growing byte buffer that formats are put into field by field: the byte order is in each call's name.
//
// Context   any one thread at a time. Allocates by nothrow operator new; clear() keeps up to kKeptCapacity
//           bytes.
// Promises  never throws, never writes beyond its end. When memory runs out it turns `failed()`, ignores
//           what follows, and is usable again after clear(): so records are put without a check per field.
// Does not  align or pad by itself, nor put bytes of its own (raw() of a part of view()).
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

namespace jitquill {

// In host order.
template <class Value>
constexpr std::array<std::uint8_t, sizeof(Value)> bytes_of(Value v) noexcept {
  return std::bit_cast<std::array<std::uint8_t, sizeof(Value)>>(v);
}

// Puts where there is room, without asking: for runs of fields whose greatest size is known
// (Bytes::reserve()). It is a local variable, so that the compiler keeps it in a register, which it cannot do
// with a buffer's members.
class Cursor {
 public:
  constexpr explicit Cursor(std::uint8_t* at) noexcept : at_(at) {}
  constexpr Cursor& u8(std::uint8_t v) noexcept {
    *at_++ = v;
    return *this;
  }
  constexpr Cursor& u16(std::uint16_t v) noexcept { return raw(bytes_of(v)); }
  constexpr Cursor& u32(std::uint32_t v) noexcept { return raw(bytes_of(v)); }
  constexpr Cursor& u64(std::uint64_t v) noexcept { return raw(bytes_of(v)); }
  constexpr Cursor& uleb128(std::uint64_t v) noexcept {
    for (; v >= 0x80; v >>= 7) u8(static_cast<std::uint8_t>(v | 0x80));
    return u8(static_cast<std::uint8_t>(v));
  }
  constexpr Cursor& sleb128(std::int64_t v) noexcept {
    for (; v < -0x40 || v >= 0x40; v >>= 7) u8(static_cast<std::uint8_t>(v | 0x80));
    return u8(static_cast<std::uint8_t>(v & 0x7F));
  }
  constexpr Cursor& raw(std::span<const std::uint8_t> v) noexcept {
    if (std::is_constant_evaluated()) {
      for (const std::uint8_t byte : v) u8(byte);
      return *this;
    }
    if (!v.empty()) std::memcpy(at_, v.data(), v.size());
    at_ += v.size();
    return *this;
  }
  // Copies all of `v`, of which `size` bytes stay: a fixed number is a few instructions, any other is a call.
  template <std::size_t kRoom>
  Cursor& raw_padded(const std::uint8_t (&v)[kRoom], std::size_t size) noexcept {
    std::memcpy(at_, v, kRoom);
    at_ += size;
    return *this;
  }
  constexpr std::uint8_t* at() const noexcept { return at_; }

 private:
  std::uint8_t* at_;
};

class Bytes {
 public:
  Bytes() noexcept = default;
  // Puts into the caller's memory, which stays the caller's: full is failed(), nothing is allocated.
  explicit Bytes(std::span<std::uint8_t> room) noexcept
      : data_(room.data()), capacity_(room.size()), is_fixed_(true) {}
  ~Bytes();
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;

  Bytes& u8(std::uint8_t v) noexcept { return copy(&v, sizeof v); }
  Bytes& u16(std::uint16_t v) noexcept { return copy(&v, sizeof v); }  // host order, where the format says so
  Bytes& u32(std::uint32_t v) noexcept { return copy(&v, sizeof v); }
  Bytes& u64(std::uint64_t v) noexcept { return copy(&v, sizeof v); }
  // Big-endian.
  Bytes& u16be(std::uint16_t v) noexcept { return u16(big(v)); }
  Bytes& u32be(std::uint32_t v) noexcept { return u32(big(v)); }
  Bytes& u64be(std::uint64_t v) noexcept { return u64(big(v)); }
  Bytes& raw(std::span<const std::uint8_t> v) noexcept { return copy(v.data(), v.size()); }
  Bytes& raw(std::string_view v) noexcept { return copy(v.data(), v.size()); }
  Bytes& fill(std::uint8_t v, std::size_t count) noexcept;
  // Pads with `v` until size() - from is a multiple of `alignment`.
  Bytes& pad_to(std::size_t alignment, std::uint8_t v, std::size_t from = 0) noexcept;

  // Where `count` more bytes may be put by a Cursor, or null: then the buffer has failed. put_up_to() takes
  // them in. What was put before is readable below it.
  std::uint8_t* reserve(std::size_t count) noexcept {
    if (count > capacity_ - size_ || failed_) [[unlikely]] {
      if (!make_room(count)) return nullptr;
    }
    return data_ + size_;
  }
  void put_up_to(const Cursor& end) noexcept { size_ = static_cast<std::size_t>(end.at() - data_); }

  Bytes& uleb128(std::uint64_t v) noexcept {
    if (std::uint8_t* const room = reserve(kMaxLeb128Size)) put_up_to(Cursor(room).uleb128(v));
    return *this;
  }
  Bytes& sleb128(std::int64_t v) noexcept {
    if (std::uint8_t* const room = reserve(kMaxLeb128Size)) put_up_to(Cursor(room).sleb128(v));
    return *this;
  }

  // Overwrites bytes put earlier, host order. Ignored where nothing was put.
  void patch_u16(std::size_t at, std::uint16_t v) noexcept { patch(at, &v, sizeof v); }
  void patch_u32(std::size_t at, std::uint32_t v) noexcept { patch(at, &v, sizeof v); }
  void patch_u64(std::size_t at, std::uint64_t v) noexcept { patch(at, &v, sizeof v); }

  void patch_u16be(std::size_t at, std::uint16_t v) noexcept { patch_u16(at, big(v)); }
  void patch_u32be(std::size_t at, std::uint32_t v) noexcept { patch_u32(at, big(v)); }
  void patch_u64be(std::size_t at, std::uint64_t v) noexcept { patch_u64(at, big(v)); }

  // The memory is the caller's, and may be just enough.
  bool is_fixed() const noexcept { return is_fixed_; }
  std::size_t size() const noexcept { return size_; }
  std::span<const std::uint8_t> view() const noexcept { return {data_, size_}; }
  bool failed() const noexcept { return failed_; }
  // Memory kept for the next use: one huge function must not pin its size for the life of the process.
  static constexpr std::size_t kKeptCapacity = std::size_t{1} << 20;
  void clear() noexcept;
  // Forgets what was put after `size`; what was put before stays, and so does failed().
  void cut(std::size_t size) noexcept {
    if (size < size_) size_ = size;
  }
  // Forgets the first `count`.
  void cut_front(std::size_t count) noexcept {
    if (count == 0 || count > size_) return;
    size_ -= count;
    std::memmove(data_, data_ + count, size_);
  }

 private:
  static constexpr std::size_t kMaxLeb128Size = 10;

  static constexpr std::uint16_t big(std::uint16_t v) noexcept {
    return std::endian::native == std::endian::big ? v : __builtin_bswap16(v);
  }
  static constexpr std::uint32_t big(std::uint32_t v) noexcept {
    return std::endian::native == std::endian::big ? v : __builtin_bswap32(v);
  }
  static constexpr std::uint64_t big(std::uint64_t v) noexcept {
    return std::endian::native == std::endian::big ? v : __builtin_bswap64(v);
  }

  // Where `count` more bytes go, or null: then the buffer has failed. Inline: most of a record's cost is
  // here.
  std::uint8_t* room_for(std::size_t count) noexcept {
    std::uint8_t* const room = reserve(count);
    if (room != nullptr) size_ += count;
    return room;
  }
  Bytes& copy(const void* from, std::size_t count) noexcept {
    if (count == 0) return *this;
    if (std::uint8_t* const room = room_for(count)) std::memcpy(room, from, count);
    return *this;
  }
  bool make_room(std::size_t count) noexcept;
  bool grow_to(std::size_t capacity) noexcept;
  void patch(std::size_t at, const void* from, std::size_t count) noexcept {
    if (at <= size_ && count <= size_ - at) std::memcpy(data_ + at, from, count);
  }

  std::uint8_t* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
  bool failed_ = false;
  bool is_fixed_ = false;
};

}  // namespace jitquill
