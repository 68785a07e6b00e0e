// The drain's side of lanes/call_stack.hpp.
#include <algorithm>
#include <cstring>
#include <new>

#include "agent/lanes/call_stack.hpp"

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

bool are_told(const GrowingArray<WantedPiece>& pieces) noexcept {
  const WantedPieces* const told = g_wanted_stacks.load(std::memory_order_relaxed);
  return told != nullptr && told->count == pieces.size() &&
         std::memcmp(told->pieces, pieces.data(), told->count * sizeof(WantedPiece)) == 0;
}

}  // namespace

void tell_wanted_stacks(GrowingArray<AddressSpan>& seen, GrowingArray<AddressSpan>& wanted) noexcept {
  sort_and_join(seen);
  sort_and_join(wanted);
  GrowingArray<WantedPiece> pieces;
  if (!make_pieces(seen.all(), wanted.all(), pieces) || are_told(pieces)) return;
  const std::size_t size = pieces.size() * sizeof(WantedPiece);
  void* const block = ::operator new(sizeof(WantedPieces) + size, std::nothrow);
  if (block == nullptr) return;
  auto* const told = static_cast<WantedPieces*>(block);
  auto* const copy = reinterpret_cast<WantedPiece*>(told + 1);
  std::memcpy(copy, pieces.data(), size);
  new (told) WantedPieces{copy, pieces.size()};
  g_wanted_stacks.store(told, std::memory_order_release);
}

}  // namespace jitquill::lanes
