#include "agent/intake/v8/own_dump.hpp"

#include <fcntl.h>

#include "agent/base/text_line.hpp"
#include "agent/base/text_lines.hpp"
#include "agent/base/text_pieces.hpp"
#include "writer/bytes/raw_calls.hpp"

namespace jitquill::intake::v8 {
namespace {

using FileName = TextLine<32>;

// The path of a mapping: what follows the first '/'.
bool is_other_dump(std::string_view line, std::string_view file, std::string_view ours) noexcept {
  const std::size_t slash = line.find('/');
  if (slash == std::string_view::npos) return false;
  const std::string_view path = without_first(line, slash);
  const bool is_ours = !ours.empty() && path.starts_with(ours);
  return path.ends_with(file) && !is_ours;
}

}  // namespace

bool names_own_dump(const char* maps, std::uint32_t pid, std::string_view ours) noexcept {
  const int descriptor = raw::open_at(AT_FDCWD, maps, O_RDONLY | O_CLOEXEC, 0);
  if (descriptor < 0) return false;
  FileName file;
  file.text("/jit-").number(pid).text(".dump");
  char buffer[8192];
  const bool found = any_line(descriptor, buffer,
                              [&](std::string_view line) { return is_other_dump(line, file.view(), ours); });
  raw::close(descriptor);
  return found;
}

bool has_own_dump(std::uint32_t pid, std::string_view ours) noexcept {
  return names_own_dump("/proc/self/maps", pid, ours);
}

}  // namespace jitquill::intake::v8
