// substr() and remove_prefix() without their range check, whose failure path would bring all of libstdc++'s
// exceptions into the host.
//
// Context   any.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace jitquill {

// The first `count` characters, or all.
constexpr std::string_view first(std::string_view text, std::size_t count) noexcept {
  return {text.data(), std::min(count, text.size())};
}

// What is behind them.
constexpr std::string_view without_first(std::string_view text, std::size_t count) noexcept {
  const std::size_t skipped = std::min(count, text.size());
  return {text.data() + skipped, text.size() - skipped};
}

}  // namespace jitquill
