#include "agent/intake/code_ranges.hpp"

#include <algorithm>

#include "agent/base/text_lines.hpp"

namespace jitquill::intake {

bool CodeRanges::has(std::uint64_t start, std::uint64_t size) const noexcept {
  const auto all = ranges_.all();
  const auto behind = std::upper_bound(all.begin(), all.end(), start,
                                       [](std::uint64_t at, const AddressRange& r) { return at < r.start; });
  return behind != all.begin() && start + size <= behind[-1].end;
}

void CodeRanges::refresh(int maps, Block& room) noexcept {
  (void)raw::call(SYS_lseek, maps, 0L, static_cast<long>(SEEK_SET));
  (void)any_line(maps, {reinterpret_cast<char*>(room.data()), room.view().size()},
                 [this](std::string_view line) {
                   if (const auto range = code_range(line)) add(*range);
                   return false;
                 });
}

// Joined with what it touches.
void CodeRanges::add(AddressRange range) noexcept {
  const auto all = ranges_.all();
  const auto first = std::lower_bound(all.begin(), all.end(), range.start,
                                      [](const AddressRange& r, std::uint64_t at) { return r.end < at; });
  const auto at = static_cast<std::size_t>(first - all.begin());
  while (at < ranges_.size() && ranges_[at].start <= range.end) {
    range = {std::min(range.start, ranges_[at].start), std::max(range.end, ranges_[at].end)};
    ranges_.erase(at);
  }
  if (ranges_.size() < kMost) (void)ranges_.insert(at, range);
}

}  // namespace jitquill::intake
