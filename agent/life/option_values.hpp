// What values of options look like: flags, numbers, sizes, one of several words.
//
// Context   [life]: no allocation, no output.
// Promises  what does not do changes nothing.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <system_error>

namespace jitquill {

inline const char* set_flag(bool& flag, std::string_view value) noexcept {
  if (value != "0" && value != "1") return "must be 0 or 1";
  flag = value == "1";
  return nullptr;
}

inline constexpr const char* kMustBeSize = "must be a number of bytes, or one with k, M or G behind it";
inline constexpr const char* kWordsOfPaths =
    "%p is the process, %t its start, %c the command, %% a percent sign";

// Digits at its front. Where they end; null: there are none.
inline const char* read_digits(std::string_view value, std::uint64_t& number) noexcept {
  const auto [rest, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  return error != std::errc{} || rest == value.data() ? nullptr : rest;
}

inline bool read_number(std::string_view value, std::uint64_t& number) noexcept {
  return read_digits(value, number) == value.data() + value.size() && !value.empty();
}

// Digits, and k, M or G for powers of 1024.
inline bool read_size(std::string_view value, std::uint64_t& bytes) noexcept {
  constexpr std::string_view kUnits = "kMG";
  const char* const end = value.data() + value.size();
  const char* const rest = read_digits(value, bytes);
  if (rest == nullptr) return false;
  if (rest == end) return true;
  const std::size_t unit = kUnits.find(*rest);
  if (unit == kUnits.npos || rest + 1 != end) return false;
  const unsigned shift = 10 * (static_cast<unsigned>(unit) + 1);
  if (bytes > ~std::uint64_t{0} >> shift) return false;
  bytes <<= shift;
  return true;
}

// `names` in the enumeration's order.
template <class Choice, std::size_t kCount>
bool choose(Choice& choice, const std::string_view (&names)[kCount], std::string_view value) noexcept {
  const auto* name = std::find(std::begin(names), std::end(names), value);
  if (name == std::end(names)) return false;
  choice = static_cast<Choice>(name - names);
  return true;
}

}  // namespace jitquill
