// Which functions are traced: the name patterns of the option hooks=.
//
//     mandel*,!mandel_setup,std::map<int,?*>::find
//
// A comma between patterns, but one inside () or <> belongs to its pattern. `*` stands for any text, `?` for
// one character (of UTF-8), all else for itself. A `!` in front takes out again what was chosen before it: of
// all patterns that fit a name the last one counts. A list that begins with a `!` begins with all functions.
// "none" and the empty list choose nothing.
//
// Context   [life] to set, any to ask. No allocation.
// Promises  a list that is refused leaves the one before it.
// Does not  look at more than a name's first 4096 bytes: formats cut there too.
#pragma once

#include <cstddef>
#include <string_view>

namespace jitquill {

class NamePatterns {
 public:
  static constexpr std::size_t kMostBytes = 2048;

  // Null, or why the list does not do.
  const char* set(std::string_view list) noexcept;
  std::string_view view() const noexcept { return {list_, size_}; }
  bool any() const noexcept { return size_ != 0; }
  // `other`: of a function that has two names, as C++ functions have: a pattern fits if it fits one.
  bool match(std::string_view name, std::string_view other) const noexcept;
  bool match(std::string_view name) const noexcept { return match(name, name); }

 private:
  char list_[kMostBytes] = {};
  std::size_t size_ = 0;
};

// Of one pattern, without its `!`.
bool matches_pattern(std::string_view pattern, std::string_view name) noexcept;

}  // namespace jitquill
