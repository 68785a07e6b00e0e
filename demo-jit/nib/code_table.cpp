#include "nib/code_table.hpp"

#include <algorithm>
#include <utility>

namespace nib {

void CodeTable::add(const jitquill_code& code) {
  const auto start = reinterpret_cast<std::uintptr_t>(code.addr);
  Function function{.start = start, .end = start + code.size, .name = code.name, .rows = {}};
  for (std::size_t i = 0; i < code.line_count; ++i)
    function.rows.push_back({code.lines[i].offset, code.lines[i].line});
  const auto after =
      std::upper_bound(functions_.begin(), functions_.end(), start,
                       [](std::uintptr_t at, const Function& each) { return at < each.start; });
  functions_.insert(after, std::move(function));
}

CodeTable::Place CodeTable::find(std::uintptr_t address) const noexcept {
  auto function = std::upper_bound(functions_.begin(), functions_.end(), address,
                                   [](std::uintptr_t at, const Function& each) { return at < each.start; });
  if (function == functions_.begin() || address >= (--function)->end) return {nullptr, 0};
  auto row = std::upper_bound(function->rows.begin(), function->rows.end(), address - function->start,
                              [](std::uintptr_t offset, const Row& each) { return offset < each.offset; });
  return {&function->name, row == function->rows.begin() ? 0 : (--row)->line};
}

}  // namespace nib
