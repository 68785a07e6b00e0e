// Bytes spelled as hex in tests: spaces and line ends are free, a comment runs from # to the line's end.
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace jitquill::tests {

inline std::vector<std::uint8_t> from_hex(std::string_view text) {
  std::vector<std::uint8_t> bytes;
  std::string digits;
  bool in_comment = false;
  for (const char c : text) {
    if (c == '#' || c == '\n') in_comment = c == '#';
    if (in_comment || c == ' ' || c == '\n') continue;
    digits += c;
    if (digits.size() < 2) continue;
    std::size_t used = 0;
    bytes.push_back(static_cast<std::uint8_t>(std::stoul(digits, &used, 16)));
    if (used != 2) throw std::invalid_argument("not hex: " + digits);
    digits.clear();
  }
  if (!digits.empty()) throw std::invalid_argument("half a byte at the end");
  return bytes;
}

// For comparison: a failed EXPECT_EQ shows both as hex, 16 bytes a line.
inline std::string to_hex(std::span<const std::uint8_t> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    text += i == 0 ? "" : i % 16 == 0 ? "\n" : " ";
    text += kDigits[bytes[i] >> 4];
    text += kDigits[bytes[i] & 15];
  }
  return text;
}

}  // namespace jitquill::tests
