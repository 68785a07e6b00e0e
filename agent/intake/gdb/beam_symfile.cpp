#include "agent/intake/gdb/beam_symfile.hpp"

#include <cstring>

namespace jitquill::gdb {
namespace {

constexpr std::uint32_t kEmulator = 0;
constexpr std::uint32_t kModule = 1;
constexpr std::uint64_t kEndOfUserSpace = std::uint64_t{1} << 56;

}  // namespace

bool BeamSymfile::has_text(std::uint64_t at, std::uint16_t size) const noexcept {
  if (size == 0 || at > file_.size() || size > file_.size() - at) return false;
  return std::memchr(file_.data() + at, 0, size) == file_.data() + at + size - 1;
}

// | start u32 | end u32 | line count u32 | name size u16 | name | 2 bytes |
BeamSymfile::RangeHead BeamSymfile::range_at(std::uint64_t at) const noexcept {
  return {value_at<std::uint32_t>(at), value_at<std::uint32_t>(at + 4), value_at<std::uint32_t>(at + 8),
          value_at<std::uint16_t>(at + 12)};
}

// | start u32 | line u32 | file size u16 | file | 2 bytes |
BeamSymfile::LineHead BeamSymfile::line_at(std::uint64_t at) const noexcept {
  return {value_at<std::uint32_t>(at), value_at<std::uint32_t>(at + 4), value_at<std::uint16_t>(at + 8)};
}

// | kind u32 | 4 bytes | base u64 | range count u32 | code size u32 | name size u16 | name | 6 bytes |
bool BeamSymfile::is_valid() const noexcept {
  if (file_.size() < kFileHead) return false;
  const auto kind = value_at<std::uint32_t>(0);
  if (kind == kEmulator) return file_.size() == kFileHead;
  const auto base = value_at<std::uint64_t>(8);
  if (kind != kModule || base == 0 || base >= kEndOfUserSpace) return false;
  if (!has_text(26, value_at<std::uint16_t>(24))) return false;

  const auto code_size = value_at<std::uint32_t>(20);
  const auto ranges = value_at<std::uint32_t>(16);
  std::uint64_t at = first_range();
  for (std::uint32_t i = 0; i < ranges; ++i) {
    const RangeHead head = range_at(at);
    if (head.start > head.end || head.end > code_size || !has_text(at + 14, head.name_size)) return false;
    at += kRangeHead + head.name_size;
    for (std::uint32_t row = 0; row < head.line_count; ++row) {
      const LineHead line = line_at(at);
      if (line.start > code_size || !has_text(at + 10, line.file_size)) return false;
      at += kLineHead + line.file_size;
    }
  }
  return at == file_.size();
}

}  // namespace jitquill::gdb
