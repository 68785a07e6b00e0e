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
  std::uint32_t offset = 0;
  for (const Line& line : load.lines) {
    if (line.offset < offset || line.offset >= load.bytes.size()) return false;
    if (line.file == nullptr && load.file == nullptr) return false;
    offset = line.offset;
  }
  return true;
}

// Calls put(offset, row) and returns how often. Of rows with one offset the last holds. The first row is
// moved to the start of the code, whose first bytes would have no line otherwise.
template <class Put>
std::uint64_t for_each_row(std::span<const Line> lines, Put put) noexcept {
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i + 1 < lines.size() && lines[i + 1].offset == lines[i].offset) continue;
    put(count == 0 ? 0 : lines[i].offset, lines[i]);
    ++count;
  }
  return count;
}

}  // namespace jitquill
