#include "writer/model/trace_selection.hpp"

#include <algorithm>

namespace jitquill {
namespace {

// By one `*` after the other, each as short as can be.
bool fits(std::string_view pattern, std::string_view name) noexcept {
  std::size_t at = 0, place = 0, star = pattern.npos, behind_star = 0;
  while (place < name.size()) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      behind_star = place;
    } else if (at < pattern.size() && pattern[at] == name[place]) {
      ++at;
      ++place;
    } else if (star != pattern.npos) {
      at = star + 1;
      place = ++behind_star;
    } else {
      return false;
    }
  }
  while (at < pattern.size() && pattern[at] == '*') ++at;
  return at == pattern.size();
}

}  // namespace

const char* TraceSelection::set(std::string_view text) noexcept {
  TraceSelection made;
  made.count_ = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    const std::string_view part(text.data(), end);
    const std::size_t next = std::min(end + 1, text.size());
    text = {text.data() + next, text.size() - next};
    if (made.count_ == kMost) return "has more than 8 parts";
    if (part.size() < 3 || part[part.size() - 2] != ':' || part.back() < '0' || part.back() > '9')
      return "must be COMPONENT:LEVEL, with commas between; a level is 0 to 9";
    if (part.size() - 2 > kMostName) return "has a component of more than 32 characters";
    Part& row = made.parts_[made.count_++];
    row.size = static_cast<std::uint8_t>(part.size() - 2);
    row.level = static_cast<std::uint8_t>(part.back() - '0');
    std::copy_n(part.data(), row.size, row.name.data());
  }
  if (made.count_ == 0) return "chooses nothing: write formats= without openj9";
  *this = made;
  return nullptr;
}

int TraceSelection::level_of(std::string_view component) const noexcept {
  int level = kOff;
  for (std::size_t i = 0; i < count_; ++i) {
    if (fits(parts_[i].pattern(), component)) level = parts_[i].level;
  }
  return level;
}

}  // namespace jitquill
