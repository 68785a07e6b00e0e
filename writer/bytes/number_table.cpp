#include "writer/bytes/number_table.hpp"

#include "writer/bytes/hash.hpp"

namespace jitquill {

std::size_t NumberTable::place_of(std::uint64_t key) const noexcept {
  const std::size_t mask = cells_.size() - 1;
  std::size_t at = (key * kGoldenRatio >> 32) & mask;
  while (cells_[at].value != kNone && cells_[at].key != key) at = (at + 1) & mask;
  return at;
}

std::uint32_t NumberTable::find(std::uint64_t key) const noexcept {
  return cells_.empty() ? kNone : cells_[place_of(key)].value;
}

bool NumberTable::put(std::uint64_t key, std::uint32_t value) noexcept {
  constexpr std::size_t kFirst = 64;
  if (2 * (used_ + 1) > cells_.size()) {
    NumberTable larger;
    if (!larger.cells_.grow_to(cells_.empty() ? kFirst : 2 * cells_.size(), Cell{0, kNone})) return false;
    for (const Cell& cell : cells_.all()) {
      if (cell.value != kNone) larger.cells_[larger.place_of(cell.key)] = cell;
    }
    cells_.swap(larger.cells_);
  }
  Cell& cell = cells_[place_of(key)];
  if (cell.value == kNone) ++used_;
  cell = {key, value};
  return true;
}

}  // namespace jitquill
