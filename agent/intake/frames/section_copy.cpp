#include "agent/intake/frames/section_copy.hpp"

#include <algorithm>
#include <cstring>

#include "agent/base/safe_copy.hpp"

namespace jitquill::frames {
namespace {

using intake::Block;

constexpr std::uint64_t kMostBytes = 64 * 1024 * 1024;
constexpr std::uint64_t kFirstBytes = 4096;
constexpr std::uint32_t kLong = 0xFFFFFFFF;

template <class T>
T value_at(std::span<const std::uint8_t> bytes, std::uint64_t at) noexcept {
  T value{};
  if (at + sizeof value <= bytes.size()) std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

struct Entry {
  std::uint64_t head;  // bytes of its length
  std::uint64_t size;  // with them; 0 = the section ends here
  std::uint32_t distance;
};

Entry entry_at(std::span<const std::uint8_t> bytes, std::uint64_t at) noexcept {
  const auto word = value_at<std::uint32_t>(bytes, at);
  if (word == 0) return {4, 0, 0};
  const std::uint64_t head = word == kLong ? 12 : 4;
  const std::uint64_t length = word == kLong ? value_at<std::uint64_t>(bytes, at + 4) : word;
  if (length > kMostBytes) return {head, 0, 0};
  return {head, head + length, value_at<std::uint32_t>(bytes, at + head)};
}

// Whole entries at the front of `bytes`; `is_whole` if the end was seen.
std::uint64_t extent(std::span<const std::uint8_t> bytes, bool& is_whole) noexcept {
  std::uint64_t at = 0;
  for (;;) {
    is_whole = at + 4 <= bytes.size();
    if (!is_whole) return at;
    const Entry entry = entry_at(bytes, at);
    if (entry.size == 0) return at;
    if (entry.size > bytes.size() - at) {
      is_whole = false;
      return at;
    }
    at += entry.size;
  }
}

// What cannot be read ends the section.
Block copy_bytes(std::uint64_t address, std::uint64_t size) noexcept {
  Block block(static_cast<std::size_t>(size));
  if (block) {
    const auto* const from = reinterpret_cast<const std::uint8_t*>(address);
    (void)safe_copy({from, static_cast<std::size_t>(size)}, block.data(), 0);
  }
  return block;
}

SectionCopy copy_lone_entry(std::uint64_t registered, const Entry& entry) noexcept {
  SectionCopy copy;
  const std::uint64_t id_at = registered + entry.head;
  if (entry.distance > kMostBytes || entry.distance > id_at) return copy;
  copy.address = id_at - entry.distance;  // its CIE
  if (copy.address >= registered) return copy;
  copy.bytes = copy_bytes(copy.address, registered + entry.size - copy.address);
  return copy;
}

}  // namespace

FdePlace place_of(const SectionCopy& copy, std::uint64_t fde) noexcept {
  const auto bytes = copy.bytes.view();
  const std::uint64_t at = fde - copy.address;
  const Entry entry = entry_at(bytes, at);
  const std::uint64_t cie_at = at + entry.head - entry.distance;
  return {fde, static_cast<std::uint32_t>(entry.size), static_cast<std::uint32_t>(at - cie_at),
          static_cast<std::uint32_t>(entry_at(bytes, cie_at).size)};
}

SectionCopy copy_fde(const FdePlace& place) noexcept {
  SectionCopy copy{Block(std::size_t{place.cie_size} + place.size), place.address - place.cie_size};
  if (!copy.bytes) return copy;
  std::uint8_t* const to = copy.bytes.data();
  const CopyPiece pieces[] = {
      {reinterpret_cast<const void*>(place.address - place.cie_distance), to, place.cie_size},
      {reinterpret_cast<const void*>(place.address), to + place.cie_size, place.size}};
  (void)safe_copy(pieces, 0);
  // Its CIE is in front of it now. Pointers relative to themselves stay as they are: the FDE has its address.
  const Entry entry = entry_at(copy.bytes.view(), place.cie_size);
  if (entry.distance != place.cie_distance + entry.head) return {};  // the host put something else there
  const auto id_at = static_cast<std::uint32_t>(place.cie_size + entry.head);
  std::memcpy(to + id_at, &id_at, sizeof id_at);
  return copy;
}

SectionCopy copy_section(std::uint64_t registered) noexcept {
  for (std::uint64_t size = kFirstBytes;; size = std::min(size * 4, kMostBytes)) {
    SectionCopy copy{copy_bytes(registered, size), registered};
    if (!copy.bytes) return copy;
    const Entry first = entry_at(copy.bytes.view(), 0);
    if (first.size != 0 && first.distance != 0) return copy_lone_entry(registered, first);
    bool is_whole = false;
    const std::uint64_t end = extent(copy.bytes.view(), is_whole);
    if (is_whole || size == kMostBytes) {
      copy.bytes.cut(static_cast<std::size_t>(end));
      return copy;
    }
  }
}

}  // namespace jitquill::frames
