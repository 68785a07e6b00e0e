// Takes values one after the other out of a stretch of a file, and never from outside of it.
//
// Context   any; no allocation.
// Promises  what does not fit reads as 0 or as empty, moves nothing, and failed() is true from then on.
// Does not  swap: values are in the order of this machine, as the file's magic must be.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace jitquill::jitdump {

class ByteReader {
 public:
  using View = std::span<const std::uint8_t>;

  // `start` is where `bytes` begin in the file.
  ByteReader(View bytes, std::uint64_t start) noexcept : bytes_(bytes), start_(start) {}

  template <class T>
  T get() noexcept {
    T value{};
    const View field = take(sizeof(T));
    if (!field.empty()) std::memcpy(&value, field.data(), sizeof(T));
    return value;
  }
  std::uint8_t u8() noexcept { return get<std::uint8_t>(); }
  std::uint32_t u32() noexcept { return get<std::uint32_t>(); }
  std::uint64_t u64() noexcept { return get<std::uint64_t>(); }
  std::int32_t i32() noexcept { return get<std::int32_t>(); }

  View take(std::uint64_t count) noexcept {
    if (failed_ || count > left()) return fail();
    const View taken = bytes_.subspan(at_, static_cast<std::size_t>(count));
    at_ += taken.size();
    return taken;
  }

  // Up to the next NUL, and moves behind it.
  std::string_view text() noexcept {
    const View rest = bytes_.subspan(at_);
    const void* const nul = failed_ || rest.empty() ? nullptr : std::memchr(rest.data(), 0, rest.size());
    if (nul == nullptr) {
      (void)fail();
      return {};
    }
    const auto* const begin = reinterpret_cast<const char*>(rest.data());
    const auto size = static_cast<std::size_t>(static_cast<const char*>(nul) - begin);
    at_ += size + 1;
    return {begin, size};
  }

  // LEB128, of at most 64 bits.
  std::uint64_t uleb128() noexcept {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const std::uint8_t byte = u8();
      value |= std::uint64_t{byte & 0x7Fu} << shift;
      if (failed_ || byte < 0x80) return value;
    }
    (void)fail();
    return 0;
  }
  std::int64_t sleb128() noexcept {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64;) {
      const std::uint8_t byte = u8();
      value |= std::uint64_t{byte & 0x7Fu} << shift;
      shift += 7;
      if (failed_) return 0;
      if (byte >= 0x80) continue;
      const bool is_negative = (byte & 0x40) != 0 && shift < 64;
      return static_cast<std::int64_t>(is_negative ? value | ~std::uint64_t{0} << shift : value);
    }
    (void)fail();
    return 0;
  }

  std::uint64_t offset() const noexcept { return start_ + at_; }  // in the file
  std::uint64_t left() const noexcept { return bytes_.size() - at_; }
  View rest() const noexcept { return bytes_.subspan(at_); }
  bool failed() const noexcept { return failed_; }

 private:
  View fail() noexcept {
    failed_ = true;
    return {};
  }

  View bytes_;
  std::uint64_t start_;
  std::size_t at_ = 0;
  bool failed_ = false;
};

}  // namespace jitquill::jitdump
