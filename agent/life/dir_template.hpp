// The words in dir= that stand for something else: %p the process, %t the time the program began (UTC),
// %c the command (the executable's name), %% a percent sign.
//
// Context   any.
#pragma once

#include <string_view>

namespace jitquill::dir_template {

struct Values {
  std::string_view pid;
  std::string_view time;  // 20261130-213000
  std::string_view command;
};

// What `letter` stands for behind a percent sign; empty data() = nothing.
constexpr std::string_view value_of(char letter, const Values& values) noexcept {
  switch (letter) {
    case 'p':
      return values.pid;
    case 't':
      return values.time;
    case 'c':
      return values.command;
    case '%':
      return "%";
    default:
      return {};
  }
}

// Calls take(piece) for the pieces of `text` in their order, until it answers false. False also for an
// unknown word.
template <class Take>
constexpr bool expand(std::string_view text, const Values& values, Take take) {
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && text[end] != '%') ++end;
    if (end > at && !take(std::string_view(text.data() + at, end - at))) return false;
    if (end == text.size()) return true;
    const std::string_view value =
        end + 1 < text.size() ? value_of(text[end + 1], values) : std::string_view{};
    if (value.data() == nullptr || !take(value)) return false;
    at = end + 2;
  }
  return true;
}

// Whether every word of `text` is known.
constexpr bool is_good(std::string_view text) noexcept {
  return expand(text, {"1", "1", "1"}, [](std::string_view) { return true; });
}
static_assert(is_good("out/%c-%p/100%%/%t") && !is_good("%x") && !is_good("50%"));

}  // namespace jitquill::dir_template
