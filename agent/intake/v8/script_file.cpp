#include "agent/intake/v8/script_file.hpp"
#include "agent/base/text_pieces.hpp"

#include <algorithm>
#include <charconv>

namespace jitquill::intake::v8 {
namespace {

constexpr std::string_view kUrl = "file://";
constexpr std::string_view kBegins[] = {" /", " file://", " node:"};
constexpr std::string_view kDigits = "0123456789";

// Without ":123" at its end; empty if it has none.
std::string_view without_number(std::string_view text) noexcept {
  const std::size_t colon = text.find_last_not_of(kDigits);
  if (colon == std::string_view::npos || text[colon] != ':' || colon + 1 == text.size()) return {};
  return first(text, colon);
}

// Behind the file is the line, and from V8 11 on the column.
std::string_view without_place(std::string_view name) noexcept {
  const std::string_view place = without_number(name);
  const std::string_view shorter = without_number(place);
  return shorter.empty() ? place : shorter;
}

std::string_view file_in(std::string_view name) noexcept {
  const std::string_view place = without_place(name);
  std::size_t blank = std::string_view::npos;
  for (const std::string_view begin : kBegins) {
    const std::size_t at = place.rfind(begin);
    if (at != std::string_view::npos && (blank == std::string_view::npos || at > blank)) blank = at;
  }
  if (blank == std::string_view::npos) blank = place.rfind(' ');
  return blank == std::string_view::npos ? std::string_view{} : without_first(place, blank + 1);
}

// 0 if that is not "%41" but something else, or NUL.
char escaped(std::string_view text) noexcept {
  if (text.size() < 3 || text[0] != '%') return 0;
  unsigned value = 0;
  const auto done = std::from_chars(text.data() + 1, text.data() + 3, value, 16);
  return done.ptr == text.data() + 3 ? static_cast<char>(value) : '\0';
}

}  // namespace

ScriptFile::ScriptFile(std::string_view name) noexcept {
  const std::string_view file = file_in(name);
  if (file.size() > kLongest || file.find('\0') != std::string_view::npos) return;
  if (file.starts_with(kUrl)) {
    put_decoded(without_first(file, kUrl.size()));
  } else {
    put(file);
  }
}

void ScriptFile::put(std::string_view path) noexcept {
  *std::copy(path.begin(), path.end(), path_) = '\0';
  size_ = path.size();
}

void ScriptFile::put_decoded(std::string_view url_path) noexcept {
  for (std::size_t at = 0; at < url_path.size(); ++at) {
    const char decoded = escaped(without_first(url_path, at));
    path_[size_++] = decoded != 0 ? decoded : url_path[at];
    if (decoded != 0) at += 2;
  }
  path_[size_] = '\0';
}

}  // namespace jitquill::intake::v8
