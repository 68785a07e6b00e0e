// The drain's side of lanes/wanted_stacks.hpp.
#include <algorithm>
#include <bit>
#include <new>

#include "agent/lanes/wanted_stacks.hpp"

namespace jitquill::lanes {
namespace {

// Several names of one function, or one inside another.
void sort_and_join(GrowingArray<AddressSpan>& spans) noexcept {
  const auto all = spans.all();
  std::ranges::sort(all, {}, &AddressSpan::start);
  std::size_t kept = 0;
  for (const AddressSpan& span : all) {
    if (kept != 0 && span.start <= all[kept - 1].end)
      all[kept - 1].end = std::max(all[kept - 1].end, span.end);
    else
      all[kept++] = span;
  }
  spans.cut(kept);
}

// False: no memory.
bool make_pieces(std::span<const AddressSpan> seen, std::span<const AddressSpan> wanted,
                 GrowingArray<WantedPiece>& pieces) noexcept {
  bool has_memory = pieces.push({0, 1});
  std::size_t next = 0;
  for (const AddressSpan& code : seen) {
    has_memory &= pieces.push({code.start, 0});
    for (; next < wanted.size() && wanted[next].start < code.end; ++next) {
      if (wanted[next].start < code.start) continue;
      has_memory &= pieces.push({wanted[next].start, 1});
      has_memory &= pieces.push({std::min(wanted[next].end, code.end), 0});
    }
    has_memory &= pieces.push({code.end, 1});
  }
  return has_memory;
}

// Where hooks are not sent now.
constinit WantedTable* g_spare = nullptr;

WantedTable* make_table(std::size_t count, const WantedTable* left) noexcept {
  constexpr std::size_t kLeast = 256;
  const std::size_t room = std::max(kLeast, std::bit_ceil(count));
  void* const block = ::operator new(sizeof(WantedTable) + room * sizeof(WantedPiece), std::nothrow);
  return block == nullptr ? nullptr : new (block) WantedTable(room, left);
}

}  // namespace

bool WantedTable::has(std::span<const WantedPiece> pieces) const noexcept {
  if (count_.load(std::memory_order_relaxed) != pieces.size()) return false;
  const Cell* cell = cells();
  return std::ranges::all_of(pieces, [&](const WantedPiece& piece) {
    const Cell& own = *cell++;
    return own.start.load(std::memory_order_relaxed) == piece.start &&
           own.is_wanted.load(std::memory_order_relaxed) == piece.is_wanted;
  });
}

// A child may find it as its parent was writing it.
void WantedTable::write(std::span<const WantedPiece> pieces) noexcept {
  const std::uint64_t writing = writing_.load(std::memory_order_relaxed) | 1;
  writing_.store(writing, std::memory_order_release);
  count_.store(pieces.size(), std::memory_order_release);
  Cell* cell = cells();
  for (const WantedPiece& piece : pieces) {
    cell->start.store(piece.start, std::memory_order_release);
    (cell++)->is_wanted.store(piece.is_wanted, std::memory_order_release);
  }
  writing_.store(writing + 1, std::memory_order_release);
}

void tell_wanted_stacks(GrowingArray<AddressSpan>& seen, GrowingArray<AddressSpan>& wanted) noexcept {
  sort_and_join(seen);
  sort_and_join(wanted);
  GrowingArray<WantedPiece> pieces;
  if (!make_pieces(seen.all(), wanted.all(), pieces)) return;
  const WantedTable* const told = g_wanted_stacks.load(std::memory_order_relaxed);
  if (told != nullptr && told->has(pieces.all())) return;
  if (g_spare == nullptr || g_spare->room() < pieces.size()) {
    WantedTable* const larger = make_table(pieces.size(), g_spare);
    if (larger == nullptr) return;
    g_spare = larger;
  }
  g_spare->write(pieces.all());
  g_wanted_stacks.store(g_spare, std::memory_order_release);
  g_spare = const_cast<WantedTable*>(told);
}

}  // namespace jitquill::lanes
