#include "agent/unwinders/section_index.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "writer/bytes/raw_calls.hpp"

namespace jitquill::unwinders {
namespace {

constexpr std::size_t kFirstCapacity = 512;  // a page of pointers

}  // namespace

std::size_t SectionIndex::owner_of(std::uint64_t address) const noexcept {
  Section** const above = std::upper_bound(
      begin(), end(), address, [](std::uint64_t at, const Section* section) { return at < section->start; });
  return above == begin() ? kNone : static_cast<std::size_t>(above - begin()) - 1;
}

bool SectionIndex::can_insert() noexcept {
  if (size_ < capacity_) return true;
  const std::size_t capacity = capacity_ == 0 ? kFirstCapacity : capacity_ * 2;
  const long mapped =
      raw::map(capacity * sizeof *sections_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
  if (raw::is_error(mapped)) return false;
  auto** const grown = reinterpret_cast<Section**>(mapped);
  if (size_ != 0) std::memcpy(static_cast<void*>(grown), sections_, size_ * sizeof *sections_);
  if (capacity_ != 0) raw::unmap(sections_, capacity_ * sizeof *sections_);
  sections_ = grown;
  capacity_ = capacity;
  return true;
}

void SectionIndex::insert(std::size_t index, Section& section) noexcept {
  std::move_backward(sections_ + index, sections_ + size_, sections_ + size_ + 1);
  sections_[index] = &section;
  ++size_;
}

void SectionIndex::erase(std::size_t index) noexcept {
  std::move(sections_ + index + 1, sections_ + size_, sections_ + index);
  --size_;
}

}  // namespace jitquill::unwinders
