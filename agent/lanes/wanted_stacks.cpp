// The drain's side of lanes/call_stack.hpp.
#include <algorithm>
#include <cstring>
#include <new>

#include "agent/lanes/call_stack.hpp"

namespace jitquill::lanes {
namespace {

// Several names of one function, or one inside another.
void join_overlapping(GrowingArray<WantedRange>& ranges) noexcept {
  const auto all = ranges.all();
  std::size_t kept = 0;
  for (const WantedRange& range : all) {
    if (kept != 0 && range.start <= all[kept - 1].end)
      all[kept - 1].end = std::max(all[kept - 1].end, range.end);
    else
      all[kept++] = range;
  }
  ranges.cut(kept);
}

bool are_told(const GrowingArray<WantedRange>& ranges) noexcept {
  const WantedRanges* const told = g_wanted_stacks.load(std::memory_order_relaxed);
  if (told == nullptr) return ranges.empty();
  return told->count == ranges.size() &&
         (told->count == 0 ||
          std::memcmp(told->ranges, ranges.data(), told->count * sizeof(WantedRange)) == 0);
}

}  // namespace

void tell_wanted_stacks(GrowingArray<WantedRange>& ranges) noexcept {
  std::ranges::sort(ranges.all(), {}, &WantedRange::start);
  join_overlapping(ranges);
  if (are_told(ranges)) return;
  const std::size_t size = ranges.size() * sizeof(WantedRange);
  void* const block = ::operator new(sizeof(WantedRanges) + size, std::nothrow);
  if (block == nullptr) return;
  auto* const told = static_cast<WantedRanges*>(block);
  auto* const copy = reinterpret_cast<WantedRange*>(told + 1);
  if (size != 0) std::memcpy(copy, ranges.data(), size);
  new (told) WantedRanges{copy, ranges.size()};
  g_wanted_stacks.store(told, std::memory_order_release);
}

}  // namespace jitquill::lanes
