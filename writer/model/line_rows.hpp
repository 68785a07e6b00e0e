// Which rows of a function's line table count: the same for every format.
//
// Context   any; plain values.
// Promises  for_each_row() hands out ascending offsets, the first of them 0, each once.
#pragma once

#include <cstddef>
#include <cstdint>

#include "writer/model/code.hpp"

namespace jitquill {

// Offsets ascend and lie inside the code, and each row has a file.
inline bool has_usable_lines(const CodeLoad& load) noexcept {
  const bool has_file = load.file != nullptr;
  std::uint32_t offset = 0;
  for (const Line& line : load.lines) {
    if (line.offset < offset || (!has_file && line.file == nullptr)) return false;
    offset = line.offset;
  }
  return load.lines.empty() || offset < load.bytes.size();  // the last is the greatest
}

// Calls put(offset, row) and returns how often. Of rows with one offset the last holds. The first row is
// moved to the start of the code, whose first bytes would have no line otherwise.
template <class Put>
std::uint64_t for_each_row(std::span<const Line> lines, Put put) noexcept {
  std::uint64_t count = 0;
  const Line* const end = lines.data() + lines.size();
  for (const Line* line = lines.data(); line != end; ++line) {
    if (line + 1 != end && line[1].offset == line->offset) continue;
    put(count == 0 ? 0 : line->offset, *line);
    ++count;
  }
  return count;
}

}  // namespace jitquill
