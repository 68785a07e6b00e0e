// One line of a perf map: "<start> <size> <name to the end of the line>", numbers in hex.
//
// Context   any; plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace jitquill::intake::perfmap {

struct MapLine {
  std::uint64_t start = 0;
  std::uint64_t size = 0;
  std::string_view name;  // of the line that was read; may have blanks
};

// Without its newline. Numbers may begin with 0x, or with zeroes. Nothing if no code can be meant.
std::optional<MapLine> read_line(std::string_view line) noexcept;

}  // namespace jitquill::intake::perfmap
