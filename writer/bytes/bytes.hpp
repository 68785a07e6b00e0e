// A growing byte buffer that formats are put into field by field: the byte order is in each call's name.
//
// Context   any one thread at a time. Allocates by nothrow operator new; clear() keeps up to kKeptCapacity
// bytes. Promises  never throws, never writes beyond its end. When memory runs out it turns `failed()`,
// ignores
//           what follows, and is usable again after clear(): so records are put without a check per field.
// Does not  align or pad by itself, nor put bytes of its own (raw() of a part of view()).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace jitquill {

// A few fields of known size, put together first: the buffer is asked for room once.
template <std::size_t kSize>
class Fields {
 public:
  Fields& u32(std::uint32_t v) noexcept { return put(v); }
  Fields& u64(std::uint64_t v) noexcept { return put(v); }
  std::span<const std::uint8_t> view() const noexcept { return {data_, size_}; }

 private:
  template <class T>
  Fields& put(T v) noexcept {
    std::memcpy(data_ + size_, &v, sizeof v);
    size_ += sizeof v;
    return *this;
  }
  std::uint8_t data_[kSize];
  std::size_t size_ = 0;
};

class Bytes {
 public:
  Bytes() noexcept = default;
  ~Bytes();
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;

  Bytes& u8(std::uint8_t v) noexcept { return copy(&v, sizeof v); }
  Bytes& u16(std::uint16_t v) noexcept { return copy(&v, sizeof v); }  // host order, where the format says so
  Bytes& u32(std::uint32_t v) noexcept { return copy(&v, sizeof v); }
  Bytes& u64(std::uint64_t v) noexcept { return copy(&v, sizeof v); }
  Bytes& uleb128(std::uint64_t v) noexcept {
    return v < 0x80 ? u8(static_cast<std::uint8_t>(v)) : long_uleb128(v);
  }
  Bytes& sleb128(std::int64_t v) noexcept;
  Bytes& raw(std::span<const std::uint8_t> v) noexcept { return copy(v.data(), v.size()); }
  Bytes& raw(std::string_view v) noexcept;
  // Puts `count` bytes again that were put at `at`.
  Bytes& again(std::size_t at, std::size_t count) noexcept {
    if (at > size_ || count > size_ - at) return *this;
    if (std::uint8_t* const room = room_for(count)) std::memcpy(room, data_ + at, count);
    return *this;
  }
  Bytes& fill(std::uint8_t v, std::size_t count) noexcept;
  // Pads with `v` until size() - from is a multiple of `alignment`.
  Bytes& pad_to(std::size_t alignment, std::uint8_t v, std::size_t from = 0) noexcept;

  // Overwrites bytes put earlier, host order. Ignored where nothing was put.
  void patch_u32(std::size_t at, std::uint32_t v) noexcept;
  void patch_u64(std::size_t at, std::uint64_t v) noexcept;

  std::size_t size() const noexcept { return size_; }
  std::span<const std::uint8_t> view() const noexcept { return {data_, size_}; }
  bool failed() const noexcept { return failed_; }
  // Memory kept for the next use: one huge function must not pin its size for the life of the process.
  static constexpr std::size_t kKeptCapacity = std::size_t{1} << 20;
  void clear() noexcept;
  // Forgets what was put after `size`; what was put before stays, and so does failed().
  void cut(std::size_t size) noexcept;

 private:
  // Where `count` more bytes go, or null: then the buffer has failed. Inline: most of a record's cost is
  // here.
  std::uint8_t* room_for(std::size_t count) noexcept {
    if (count > capacity_ - size_ || failed_) [[unlikely]] {
      if (!make_room(count)) return nullptr;
    }
    std::uint8_t* const room = data_ + size_;
    size_ += count;
    return room;
  }
  Bytes& copy(const void* from, std::size_t count) noexcept {
    if (count == 0) return *this;
    if (std::uint8_t* const room = room_for(count)) std::memcpy(room, from, count);
    return *this;
  }
  Bytes& long_uleb128(std::uint64_t v) noexcept;
  bool make_room(std::size_t count) noexcept;
  bool grow_to(std::size_t capacity) noexcept;
  void patch(std::size_t at, const void* from, std::size_t count) noexcept;

  std::uint8_t* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
  bool failed_ = false;
};

}  // namespace jitquill
