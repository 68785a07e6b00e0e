#include "agent/intake/itt/inline_tree.hpp"

#include <algorithm>
#include <utility>

namespace jitquill::intake::itt {
namespace {

constexpr Line kUnknown{0, 0, 0, nullptr};

// Where a table has no rows there is one place, of which nothing but the function is known.
std::span<const Line> rows_of(const Growing<Line>& lines) noexcept {
  return lines.size() != 0 ? lines.all() : std::span<const Line>(&kUnknown, 1);
}

char* taken(Text& text) noexcept {
  return reinterpret_cast<char*>(text.block.give_away());
}

}  // namespace

void InlineTree::begin(Report& report) noexcept {
  reset();
  id_ = report.id;
  address_ = report.address;
  size_ = report.size;
  std::swap(lines_, report.lines);
}

bool InlineTree::add(Report& report) noexcept {
  const std::uint64_t from = report.address - address_;
  if (nodes_.size() == kMost || !report.has_code() || from >= size_ || report.size > size_ - from)
    return false;
  const auto begin = static_cast<std::uint32_t>(from);
  if (!nodes_.push({report.id, report.parent, begin, begin + report.size, nullptr, nullptr, {}, false}))
    return false;
  Node& node = nodes_[nodes_.size() - 1];
  node.name = taken(report.name);
  node.file = taken(report.file);
  std::swap(node.lines, report.lines);
  return true;
}

void InlineTree::reset() noexcept {
  for (Node& node : nodes_.all()) {
    memory().free(node.name);
    memory().free(node.file);
    node.lines.release();
  }
  nodes_.release();
  lines_.release();
  positions_.release();
  rows_.release();
  *this = {};
}

std::size_t InlineTree::row_at(std::uint32_t offset) const noexcept {
  const auto rows = rows_.all();
  const auto behind =
      std::upper_bound(rows.begin(), rows.end(), offset,
                       [](std::uint32_t at, const InlineRow& row) { return at < row.offset; });
  return static_cast<std::size_t>(behind - rows.begin()) - 1;
}

bool InlineTree::put_row(std::size_t at, std::uint32_t offset, const InlinePosition& position) noexcept {
  const auto index = static_cast<std::uint32_t>(positions_.size());
  return positions_.push(position) && rows_.insert(at, {offset, index});
}

bool InlineTree::put_method(const char* name, const char* file) noexcept {
  for (const Line& line : rows_of(lines_)) {
    const InlinePosition position{-1, line.line, line.column, 0, 0, 0, name, file};
    if (!put_row(rows_.size(), rows_.size() == 0 ? 0 : line.offset, position)) return false;
  }
  return true;
}

// In the place of the rows of [from, to): the first of them is the call.
bool InlineTree::put_node(const Node& node) noexcept {
  const auto call = static_cast<std::int32_t>(rows_[row_at(node.from)].position);
  const InlineRow behind{node.to, rows_[row_at(node.to - 1)].position};
  std::size_t at = row_at(node.from) + (rows_[row_at(node.from)].offset < node.from ? 1 : 0);
  while (at < rows_.size() && rows_[at].offset < node.to) rows_.erase(at);
  const bool goes_on = node.to < size_ && (at == rows_.size() || rows_[at].offset != node.to);
  if (goes_on && !rows_.insert(at, behind)) return false;
  bool is_first = true;
  for (const Line& line : rows_of(node.lines)) {
    const std::uint32_t offset = is_first ? node.from : node.from + line.offset;
    const char* const name = node.name != nullptr ? node.name : "";
    if (!put_row(at++, offset, {call, line.line, line.column, 0, 0, 0, name, node.file})) return false;
    is_first = false;
  }
  return true;
}

bool InlineTree::is_placed(std::uint32_t id) const noexcept {
  const auto nodes = nodes_.all();
  return id == id_ || std::any_of(nodes.begin(), nodes.end(),
                                  [id](const Node& node) { return node.is_placed && node.id == id; });
}

// Outer ones first, whatever the order of the reports.
bool InlineTree::place_all() noexcept {
  for (bool is_any_placed = true; is_any_placed;) {
    is_any_placed = false;
    for (Node& node : nodes_.all()) {
      if (node.is_placed || !is_placed(node.parent)) continue;
      if (!put_node(node)) return false;
      node.is_placed = is_any_placed = true;
    }
  }
  return true;
}

Inlining InlineTree::inlining(const char* name, const char* file) noexcept {
  rows_.release();
  positions_.release();
  for (Node& node : nodes_.all()) node.is_placed = false;
  if (!put_method(name, file) || !place_all()) return {};
  return {positions_.all(), rows_.all()};
}

}  // namespace jitquill::intake::itt
