// Texts of numbers, and what makes strs: immutable bytes, which are arrays of Kind::kBytes.
//
// Context   any; the nib_ functions of runtime.hpp that are in str.cpp only from jitted code.
#pragma once

#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "nib/heap.hpp"

namespace nib {

// The shortest text that is this number again. A float has a point or an exponent, or is inf or nan.
class NumberText {
 public:
  explicit NumberText(std::int64_t value) noexcept { end_ = std::to_chars(text_, text_ + kRoom, value).ptr; }
  explicit NumberText(double value) noexcept {
    end_ = std::to_chars(text_, text_ + kRoom, value).ptr;
    if (!std::isfinite(value) || text().find_first_of(".e") != std::string_view::npos) return;
    *end_++ = '.';
    *end_++ = '0';
  }
  std::string_view text() const noexcept { return {text_, static_cast<std::size_t>(end_ - text_)}; }
  std::string_view line() noexcept {
    *end_ = '\n';
    return {text_, static_cast<std::size_t>(end_ - text_) + 1};
  }

 private:
  static constexpr std::size_t kRoom = 32;
  char text_[kRoom + 4];
  char* end_;
};

// A literal of a program, outside of the heap.
class StaticStr {
 public:
  explicit StaticStr(std::string_view text);
  const Array* str() const noexcept { return array_; }

 private:
  std::unique_ptr<std::byte[]> memory_;
  Array* array_;
};

}  // namespace nib
