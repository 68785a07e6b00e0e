// Takes a CODE_DEBUG_INFO record apart and compares its rows with the code that they are for.
//
// Context   tests and tools.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/readers/jitdump/cursor.hpp"
#include "tests/readers/jitdump/violation.hpp"

namespace jitdump_reader {

struct Line {
  std::uint64_t address = 0;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::string file;
};

struct DebugInfo {
  std::uint64_t offset = 0;   // of the record in the file
  std::uint64_t address = 0;  // of the function, as the record says
  std::vector<Line> lines;
  std::vector<std::uint64_t> line_offsets;  // in the file
};

// `body` is what follows the record's prefix. None if not all of it can be read.
std::optional<DebugInfo> parse_debug_info(std::uint64_t record, Cursor body, Violations& found);

// False: the rows are those of another function.
bool check_debug_info(const DebugInfo& info, std::uint64_t address, std::uint64_t size, Violations& found);

// Whether line-based tools would stumble over it.
bool has_control(std::string_view text);

}  // namespace jitdump_reader
