// Reads fields out of bytes that somebody else may have damaged: what Bytes puts, in the same order.
//
// Context   any; plain value. What text() and raw() answer lies in the bytes that were given.
// Promises  never reads beyond the end. A field that is not there turns it `failed()`, and is 0 or empty, as
//           all behind it: so a record is read without a check per field.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace jitquill {

class ByteSource {
 public:
  explicit ByteSource(std::span<const std::uint8_t> bytes) noexcept : rest_(bytes) {}

  bool failed() const noexcept { return failed_; }
  bool is_at_end() const noexcept { return rest_.empty(); }
  std::size_t left() const noexcept { return rest_.size(); }

  std::uint8_t u8() noexcept { return field<std::uint8_t>(); }
  std::uint32_t u32() noexcept { return field<std::uint32_t>(); }
  std::uint64_t u64() noexcept { return field<std::uint64_t>(); }
  std::uint64_t uleb128() noexcept {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const std::uint8_t byte = u8();
      value |= std::uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80) return value;
    }
    fail();
    return 0;
  }
  // As uleb128(), of what must be at most `most`.
  std::uint64_t uleb128(std::uint64_t most) noexcept {
    const std::uint64_t value = uleb128();
    if (value <= most) return value;
    fail();
    return 0;
  }
  std::span<const std::uint8_t> raw(std::uint64_t size) noexcept {
    if (size > rest_.size()) {
      fail();
      return {};
    }
    const auto taken = rest_.first(static_cast<std::size_t>(size));
    rest_ = rest_.subspan(static_cast<std::size_t>(size));
    return taken;
  }
  std::string_view text(std::uint64_t size) noexcept {
    const auto bytes = raw(size);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  // Its size in front.
  std::string_view text() noexcept { return text(uleb128()); }

 private:
  template <class Value>
  Value field() noexcept {
    Value value{};
    const auto bytes = raw(sizeof value);
    if (!bytes.empty()) std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  void fail() noexcept {
    failed_ = true;
    rest_ = {};
  }

  std::span<const std::uint8_t> rest_;
  bool failed_ = false;
};

}  // namespace jitquill
