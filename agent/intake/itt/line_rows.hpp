// ITT's line tables, whose rows say where a line ends, as ours, whose rows say where it starts.
//
// Context   [notify], under the intakes' lock.
#pragma once

#include <cstdint>
#include <span>

#include "agent/intake/memory.hpp"
#include "writer/model/code.hpp"

namespace jitquill::intake::itt {

// The bytes from the row before up to `offset`, which is not one of them, come from `line`.
struct LineEnd {
  std::uint32_t offset;
  std::uint32_t line;
};
static_assert(sizeof(LineEnd) == 8);

// Appends to `lines`, all without a file of their own. Code behind the last row has no line. A table whose
// first row ends at 0 is one of starts, as LLVM makes them. False, and `lines` of no use: the offsets do not
// ascend, or there is no memory.
bool line_starts(std::span<const LineEnd> rows, std::uint32_t code_size, Growing<Line>& lines) noexcept;

}  // namespace jitquill::intake::itt
