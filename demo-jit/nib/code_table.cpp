#include "nib/code_table.hpp"

#include <algorithm>
#include <utility>

namespace nib {

void CodeTable::add(const jitquill_code& code) {
  const std::lock_guard guard(mutex_);
  Function function{
      .size = code.size, .name = known(code.name), .lines = {}, .inline_rows = {}, .inline_places = {}};
  for (std::size_t i = 0; i < code.line_count; ++i)
    function.lines.push_back({code.lines[i].offset, code.lines[i].line});
  for (std::size_t i = 0; i < code.inline_row_count; ++i)
    function.inline_rows.push_back({code.inline_rows[i].offset, code.inline_rows[i].position});
  for (std::size_t i = 0; i < code.inline_position_count; ++i) {
    const jitquill_inline_position& each = code.inline_positions[i];
    function.inline_places.push_back({each.caller, {known(each.function), each.line}});
  }
  functions_.insert_or_assign(reinterpret_cast<std::uintptr_t>(code.addr), std::move(function));
}

void CodeTable::remove(const void* start) {
  const std::lock_guard guard(mutex_);
  functions_.erase(reinterpret_cast<std::uintptr_t>(start));
}

void CodeTable::move(const void* from, const void* to) {
  const std::lock_guard guard(mutex_);
  auto moved = functions_.extract(reinterpret_cast<std::uintptr_t>(from));
  if (moved.empty()) return;
  moved.key() = reinterpret_cast<std::uintptr_t>(to);
  functions_.insert(std::move(moved));
}

bool CodeTable::empty() const {
  const std::lock_guard guard(mutex_);
  return functions_.empty();
}

std::uint32_t CodeTable::value_at(const std::vector<Row>& rows, std::size_t offset) noexcept {
  auto row = std::upper_bound(rows.begin(), rows.end(), offset,
                              [](std::size_t at, const Row& each) { return at < each.offset; });
  return row == rows.begin() ? 0 : (--row)->value;
}

void CodeTable::find(std::uintptr_t address, std::vector<Place>& places) const {
  places.clear();
  const std::lock_guard guard(mutex_);
  auto found = functions_.upper_bound(address);
  if (found == functions_.begin()) return;
  const auto& [start, function] = *--found;
  if (address - start >= function.size) return;
  const std::uint32_t line = value_at(function.lines, address - start);
  if (function.inline_places.empty()) return places.push_back({function.name, line});
  auto position = static_cast<std::int32_t>(value_at(function.inline_rows, address - start));
  for (; position >= 0; position = function.inline_places[static_cast<std::size_t>(position)].caller)
    places.push_back(function.inline_places[static_cast<std::size_t>(position)].place);
  places.front().line = line;
}

}  // namespace nib
