#include "agent/intake/perfmap/code_ranges.hpp"

#include <algorithm>
#include <charconv>

#include "agent/intake/perfmap/whole_lines.hpp"

namespace jitquill::intake::perfmap {
namespace {

// What the kernel shows as a path though no file is behind it that perf could open.
bool is_no_file(std::string_view path) noexcept {
  if (path.empty() || path.front() != '/') return true;
  for (const std::string_view start : {"/memfd:", "/dev/zero", "/dev/shm/", "/SYSV"}) {
    if (path.starts_with(start)) return true;
  }
  return path.ends_with(" (deleted)");
}

bool take_hex(std::string_view& text, char behind, std::uint64_t& value) noexcept {
  const char* const end = text.data() + text.size();
  const auto done = std::from_chars(text.data(), end, value, 16);
  if (done.ec != std::errc() || done.ptr == end || *done.ptr != behind) return false;
  text.remove_prefix(static_cast<std::size_t>(done.ptr - text.data()) + 1);
  return true;
}

}  // namespace

// start-end perms offset device inode      path
std::optional<AddressRange> code_range(std::string_view line) noexcept {
  AddressRange range{};
  if (!take_hex(line, '-', range.start) || !take_hex(line, ' ', range.end)) return std::nullopt;
  if (line.size() < 4 || line[2] != 'x') return std::nullopt;
  constexpr int kFieldsBeforePath = 4;
  for (int i = 0; i < kFieldsBeforePath; ++i) {
    const std::size_t blank = line.find(' ');
    if (blank == std::string_view::npos) return range;  // the inode is the last
    line.remove_prefix(blank + 1);
  }
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  return is_no_file(line) ? std::optional(range) : std::nullopt;
}

bool CodeRanges::has(std::uint64_t start, std::uint64_t size) const noexcept {
  const auto all = ranges_.all();
  const auto behind = std::upper_bound(all.begin(), all.end(), start,
                                       [](std::uint64_t at, const AddressRange& r) { return at < r.start; });
  return behind != all.begin() && start + size <= behind[-1].end;
}

void CodeRanges::refresh(int maps, Block& room) noexcept {
  WholeLines lines(room);
  while (lines.read(maps)) {
    lines.for_each([this](std::string_view line, std::uint64_t) {
      if (const auto range = code_range(line)) add(*range);
      return true;
    });
  }
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

}  // namespace jitquill::intake::perfmap
