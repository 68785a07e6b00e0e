// Reads values one after the other from a stretch of a file and never reads outside of it.
//
// Context   tests and tools.
// Promises  a read that does not fit returns 0 or an empty view, moves nothing, and makes failed() true for
//           good.
// Does not  swap bytes: files of the other byte order are refused at their magic.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace jitdump_reader {

class Cursor {
 public:
  // `offset` is where the first byte of `bytes` lies in the file.
  Cursor(std::span<const std::uint8_t> bytes, std::uint64_t offset) : bytes_(bytes), offset_(offset) {}

  std::uint8_t u8() { return read<std::uint8_t>(); }
  std::uint16_t u16() { return read<std::uint16_t>(); }
  std::uint32_t u32() { return read<std::uint32_t>(); }
  std::int32_t i32() { return read<std::int32_t>(); }
  std::uint64_t u64() { return read<std::uint64_t>(); }

  std::uint64_t uleb() { return leb(false); }
  std::int64_t sleb() { return static_cast<std::int64_t>(leb(true)); }

  // The text up to the next NUL, and moves behind that; fails if there is none.
  std::string_view text() {
    const auto rest = bytes_.subspan(at_);
    const void* end = rest.empty() ? nullptr : std::memchr(rest.data(), 0, rest.size());
    if (end == nullptr) {
      failed_ = true;
      return {};
    }
    const auto size = static_cast<std::size_t>(static_cast<const std::uint8_t*>(end) - rest.data());
    at_ += size + 1;
    return {reinterpret_cast<const char*>(rest.data()), size};
  }

  std::span<const std::uint8_t> take(std::uint64_t size) {
    if (size > left()) {
      failed_ = true;
      return {};
    }
    const auto taken = bytes_.subspan(at_, static_cast<std::size_t>(size));
    at_ += taken.size();
    return taken;
  }

  // The next `size` bytes as a cursor of their own.
  Cursor part(std::uint64_t size) {
    const std::uint64_t from = offset();
    return Cursor(take(size), from);
  }

  std::uint64_t offset() const { return offset_ + at_; }  // in the file
  std::uint64_t done() const { return at_; }              // from the cursor's own start
  std::uint64_t left() const { return bytes_.size() - at_; }
  bool failed() const { return failed_; }
  std::span<const std::uint8_t> rest() const { return bytes_.subspan(at_); }

 private:
  template <class T>
  T read() {
    T value{};
    const auto taken = take(sizeof(T));
    if (!taken.empty()) std::memcpy(&value, taken.data(), sizeof(T));
    return value;
  }

  std::uint64_t leb(bool is_signed) {
    std::uint64_t value = 0;
    unsigned shift = 0;
    std::uint8_t byte = 0;
    do {
      byte = u8();
      if (failed_ || shift > 63) {
        failed_ = true;
        return 0;
      }
      value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
      shift += 7;
    } while ((byte & 0x80) != 0);
    if (is_signed && shift < 64 && (byte & 0x40) != 0) value |= ~std::uint64_t{0} << shift;
    return value;
  }

  std::span<const std::uint8_t> bytes_;
  std::uint64_t offset_;
  std::size_t at_ = 0;
  bool failed_ = false;
};

}  // namespace jitdump_reader
