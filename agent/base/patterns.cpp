#include "agent/base/patterns.hpp"

#include "agent/base/text_pieces.hpp"

namespace jitquill {
namespace {

constexpr std::size_t kMostNameBytes = 4096;

// Where the pattern at the front of `list` ends: the first comma outside of brackets. Names have brackets
// without a partner too (operator<), so one that is not closed in the list does not count.
std::size_t pattern_end(std::string_view list) noexcept {
  std::size_t depth = 0, outer_comma = list.npos;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const char c = list[i];
    if (c == '(' || c == '<') ++depth;
    if ((c == ')' || c == '>') && depth != 0) --depth;
    if (c != ',') continue;
    if (depth == 0) return i;
    if (outer_comma == list.npos) outer_comma = i;
  }
  return depth != 0 && outer_comma != list.npos ? outer_comma : list.size();
}

// The next pattern, which is taken off the list.
std::string_view next_pattern(std::string_view& list) noexcept {
  const std::size_t end = pattern_end(list);
  const std::string_view pattern = first(list, end);
  list = without_first(list, end + 1);
  return pattern;
}

bool is_exclusion(std::string_view pattern) noexcept {
  return !pattern.empty() && pattern.front() == '!';
}

// Behind the character that begins at `at`.
std::size_t behind_character(std::string_view name, std::size_t at) noexcept {
  ++at;
  while (at < name.size() && (static_cast<unsigned char>(name[at]) & 0xC0) == 0x80) ++at;
  return at;
}

}  // namespace

// Where a text fits up to a `*`, only the last `*` can still have to take more: no recursion, and at most
// pattern times name steps.
bool matches_pattern(std::string_view pattern, std::string_view name) noexcept {
  std::size_t p = 0, n = 0, star = pattern.npos, retry = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      retry = n;
    } else if (p < pattern.size() && pattern[p] == '?') {
      ++p;
      n = behind_character(name, n);
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      ++p;
      ++n;
    } else if (star != pattern.npos) {
      p = star + 1;
      n = ++retry;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

const char* NamePatterns::set(std::string_view list) noexcept {
  if (list == "none") list = {};
  if (list.size() > kMostBytes) return "the patterns are longer than 2048 bytes";
  for (std::string_view rest = list; !rest.empty();) {
    if (rest.back() == ',') return "a pattern is empty: two commas in a row, or one at an end";
    const std::string_view pattern = next_pattern(rest);
    if (without_first(pattern, is_exclusion(pattern) ? 1 : 0).empty())
      return "a pattern is empty: two commas in a row, or one at an end";
  }
  size_ = list.size();
  if (size_ != 0) __builtin_memcpy(list_, list.data(), size_);
  return nullptr;
}

bool NamePatterns::match(std::string_view name, std::string_view other) const noexcept {
  const bool is_one = name.data() == other.data();
  name = first(name, kMostNameBytes);
  other = first(other, kMostNameBytes);
  std::string_view rest = view();
  bool is_chosen = is_exclusion(rest);
  while (!rest.empty()) {
    std::string_view pattern = next_pattern(rest);
    const bool chooses = !is_exclusion(pattern);
    if (chooses == is_chosen) continue;  // it would change nothing
    if (!chooses) pattern = without_first(pattern, 1);
    if (matches_pattern(pattern, name) || (!is_one && matches_pattern(pattern, other))) is_chosen = chooses;
  }
  return is_chosen;
}

}  // namespace jitquill
