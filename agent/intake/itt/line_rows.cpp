#include "agent/intake/itt/line_rows.hpp"

namespace jitquill::intake::itt {
namespace {

constexpr std::uint32_t kNoLine = 0;

Line starting_at(std::uint32_t offset, std::uint32_t line) noexcept {
  const bool is_line = line <= 0x7FFFFFFF;  // perf's numbers have a sign
  return {offset, is_line ? line : kNoLine, 0, nullptr};
}

bool starts_as_they_are(std::span<const LineEnd> rows, std::uint32_t code_size,
                        Growing<Line>& lines) noexcept {
  std::uint32_t last = 0;
  for (const LineEnd& row : rows) {
    if (row.offset < last) return false;
    last = row.offset;
    if (row.offset >= code_size) break;
    const Line line = starting_at(row.offset, row.line);
    const bool is_another = lines.size() == 0 || lines[lines.size() - 1].offset != row.offset;
    if (!is_another) lines[lines.size() - 1] = line;  // of rows with one offset the last holds
    if (is_another && !lines.push(line)) return false;
  }
  return true;
}

}  // namespace

bool line_starts(std::span<const LineEnd> rows, std::uint32_t code_size, Growing<Line>& lines) noexcept {
  if (rows.empty()) return true;
  if (rows.front().offset == 0) return starts_as_they_are(rows, code_size, lines);
  std::uint32_t start = 0;
  for (const LineEnd& row : rows) {
    if (row.offset < start) return false;
    if (row.offset == start) continue;
    if (start >= code_size) break;
    if (!lines.push(starting_at(start, row.line))) return false;
    start = row.offset;
  }
  return start >= code_size || lines.push(starting_at(start, kNoLine));
}

}  // namespace jitquill::intake::itt
