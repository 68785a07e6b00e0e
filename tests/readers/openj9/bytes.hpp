// Numbers and strings of a trace, in either byte order.
//
// Context   tests; plain value.
// Promises  never reads beyond the end: what is not there is 0 or empty, and has() says so before.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace openj9_reader {

class Source {
 public:
  Source(std::string_view bytes, bool is_big) : bytes_(bytes), is_big_(is_big) {}

  bool has(std::uint64_t at, std::uint64_t size) const {
    return at <= bytes_.size() && size <= bytes_.size() - at;
  }
  std::uint64_t number(std::uint64_t at, unsigned size) const {
    if (!has(at, size)) return 0;
    std::uint64_t value = 0;
    for (unsigned i = 0; i < size; ++i) {
      const auto byte = static_cast<unsigned char>(bytes_[at + (is_big_ ? i : size - 1 - i)]);
      value = value << 8 | byte;
    }
    return value;
  }
  std::uint32_t u32(std::uint64_t at) const { return static_cast<std::uint32_t>(number(at, 4)); }
  std::uint64_t u64(std::uint64_t at) const { return number(at, 8); }
  std::uint8_t u8(std::uint64_t at) const { return static_cast<std::uint8_t>(number(at, 1)); }
  std::string_view text(std::uint64_t at, std::uint64_t size) const {
    return has(at, size) ? bytes_.substr(at, size) : std::string_view();
  }
  std::uint64_t size() const { return bytes_.size(); }
  bool is_big() const { return is_big_; }

 private:
  std::string_view bytes_;
  bool is_big_;
};

}  // namespace openj9_reader
