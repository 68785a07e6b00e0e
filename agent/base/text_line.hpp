// One line of text in a fixed buffer: how messages and small files are worded without stdio or allocation.
//
// Context   [hook].
// Promises  what does not fit is cut; the line always ends with its newline once end() was called, and has no
//           other: a control character from outside becomes '?'.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace jitquill {

template <std::size_t kCapacity>
class TextLine {
 public:
  TextLine& text(std::string_view words) noexcept {
    for (const char c : words) {
      if (size_ + 1 >= kCapacity) break;  // one byte stays for the newline
      data_[size_++] = is_control(c) ? '?' : c;
    }
    return *this;
  }
  TextLine& number(std::uint64_t value) noexcept {
    char digits[20];
    const auto done = std::to_chars(digits, digits + sizeof digits, value);
    return text({digits, static_cast<std::size_t>(done.ptr - digits)});
  }
  TextLine& end() noexcept {
    data_[size_++] = '\n';
    return *this;
  }
  // For calls that take a path, with a NUL instead of the newline: view().data().
  TextLine& nul() noexcept {
    data_[size_++] = '\0';
    return *this;
  }
  std::string_view view() const noexcept { return {data_, size_}; }

 private:
  static bool is_control(char c) noexcept { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }

  char data_[kCapacity];
  std::size_t size_ = 0;
};

using Message = TextLine<1024>;

}  // namespace jitquill
