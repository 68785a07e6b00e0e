// A number as text, without allocation.
//
// Context   any; plain value.
#pragma once

#include <charconv>
#include <cstdint>
#include <string_view>

namespace jitquill {

class Decimal {
 public:
  explicit Decimal(std::uint64_t value) noexcept
      : size_(static_cast<std::size_t>(std::to_chars(digits_, digits_ + sizeof digits_, value).ptr -
                                       digits_)) {}
  std::string_view view() const noexcept { return {digits_, size_}; }

 private:
  char digits_[20];
  std::size_t size_;
};

}  // namespace jitquill
