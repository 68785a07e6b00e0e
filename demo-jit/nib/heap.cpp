#include "nib/heap.hpp"

#include <cstdlib>
#include <new>

namespace nib {

Heap::~Heap() {
  while (newest_ != nullptr) {
    Array* const next = newest_->next;
    std::free(newest_);
    newest_ = next;
  }
}

std::int64_t Heap::max_length(std::size_t element_size) const noexcept {
  return limit_ < sizeof(Array) ? 0 : static_cast<std::int64_t>((limit_ - sizeof(Array)) / element_size);
}

Array* Heap::allocate(std::int64_t length, std::size_t element_size) noexcept {
  const std::size_t size = sizeof(Array) + static_cast<std::size_t>(length) * element_size;
  if (size > limit_ - used_) return nullptr;
  void* const memory = std::malloc(size);
  if (memory == nullptr) return nullptr;
  used_ += size;
  newest_ = new (memory) Array{.next = newest_, .length = length};
  return newest_;
}

}  // namespace nib
