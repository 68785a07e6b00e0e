#include "agent/intake/perfmap/map_line.hpp"

#include <charconv>

#include "writer/model/code.hpp"

namespace jitquill::intake::perfmap {
namespace {

// Takes a number and the blank behind it off the front.
bool take_hex(std::string_view& text, std::uint64_t& value) noexcept {
  if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
  const char* const end = text.data() + text.size();
  const auto done = std::from_chars(text.data(), end, value, 16);
  if (done.ec != std::errc() || done.ptr == end || *done.ptr != ' ') return false;
  text.remove_prefix(static_cast<std::size_t>(done.ptr - text.data()) + 1);
  return true;
}

}  // namespace

std::optional<MapLine> read_line(std::string_view line) noexcept {
  MapLine read;
  if (!take_hex(line, read.start) || !take_hex(line, read.size) || line.empty()) return std::nullopt;
  if (read.start == 0 || read.size == 0 || read.size > kMaxCodeSize) return std::nullopt;
  if (read.start + read.size < read.start) return std::nullopt;
  read.name = line;
  return read;
}

}  // namespace jitquill::intake::perfmap
