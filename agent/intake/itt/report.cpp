#include "agent/intake/itt/report.hpp"

#include <cstring>

#include "agent/base/counters.hpp"
#include "agent/base/safe_copy.hpp"
#include "agent/base/safe_text.hpp"
#include "agent/intake/itt/line_rows.hpp"
#include "writer/bytes/names.hpp"

namespace jitquill::intake::itt {
namespace {

// Where every method structure has it.
constexpr std::size_t kIdAt = 0;
constexpr std::size_t kNameAt = 8;
constexpr std::size_t kAddressAt = 16;
constexpr std::size_t kSizeAt = 24;
constexpr std::size_t kLineCountAt = 28;
constexpr std::size_t kLinesAt = 32;

constexpr std::uint32_t kMostLines = 1u << 20;

const char* pointer(const Raw& raw, std::size_t at) noexcept {
  return at == 0 ? nullptr : reinterpret_cast<const char*>(raw.u64(at));
}

// `first` and a dot, then `second`; a null one is left out.
Text joined(const char* first, const char* second) noexcept {
  Block room(2 * (kNameToRead + 1));  // a host's stack may be small
  if (!room) return {};
  char* const words = reinterpret_cast<char*>(room.data());
  std::size_t size = 0;
  for (const char* part : {first, second}) {
    if (part == nullptr) continue;
    const std::size_t begin = size == 0 ? 0 : size + 1;
    const auto count = safe_text(part, {words + begin, kNameToRead + 1});
    if (!count) jitquill::count(Counter::itt_reports_broken);
    if (count.value_or(0) == 0) continue;
    if (begin != 0) words[size] = '.';
    size = begin + *count;
  }
  Text text{size == 0 ? Block() : Block(size + 1), size};
  if (text.block) std::memcpy(text.block.data(), words, size + 1);
  return text;
}

// More rows than bytes of code cannot be.
bool read_lines(const Raw& raw, Report& report) noexcept {
  const std::uint32_t count = raw.u32(kLineCountAt);
  const std::uint64_t from = raw.u64(kLinesAt);
  if (count == 0 || from == 0 || !report.has_code()) return true;
  if (count > kMostLines || count > report.size) return false;
  Block rows(count * sizeof(LineEnd));
  if (!rows || !safe_copy({reinterpret_cast<const std::uint8_t*>(from), rows.view().size()}, rows.data(), 0))
    return false;
  return line_starts({reinterpret_cast<const LineEnd*>(rows.data()), count}, report.size, report.lines);
}

}  // namespace

bool Raw::read(const void* from, const Layout& layout) noexcept {
  layout_ = layout;
  return safe_copy({static_cast<const std::uint8_t*>(from), layout.size}, bytes_, 0);
}

std::uint32_t Raw::u32(std::size_t at) const noexcept {
  std::uint32_t value;
  std::memcpy(&value, bytes_ + at, sizeof value);
  return value;
}

std::uint64_t Raw::u64(std::size_t at) const noexcept {
  std::uint64_t value;
  std::memcpy(&value, bytes_ + at, sizeof value);
  return value;
}

bool Report::read(const Raw& raw) noexcept {
  id = raw.u32(kIdAt);
  if (raw.layout().parent_at != 0) parent = raw.u32(raw.layout().parent_at);
  address = raw.u64(kAddressAt);
  size = raw.u32(kSizeAt);
  if (size > kMaxCodeSize || address + size < address) return false;
  if (has_code() && !can_read_ends({reinterpret_cast<const std::uint8_t*>(address), size})) return false;
  name = joined(pointer(raw, raw.layout().class_at), pointer(raw, kNameAt));
  file = joined(nullptr, pointer(raw, raw.layout().file_at));
  if (!read_lines(raw, *this)) {
    lines.release();
    count(Counter::lines_refused);
  }
  return true;
}

}  // namespace jitquill::intake::itt
