#include "nib/heap.hpp"

#include <cstdlib>
#include <new>

namespace nib {

Heap::~Heap() {
  for (void* each : all_) std::free(each);
}

std::int64_t Heap::max_length(Kind kind) const noexcept {
  return limit_ < sizeof(Array) ? 0
                                : static_cast<std::int64_t>((limit_ - sizeof(Array)) / element_size(kind));
}

Array* Heap::allocate_array(Kind kind, std::int64_t length) {
  void* const memory = allocate_bytes(sizeof(Array) + static_cast<std::size_t>(length) * element_size(kind));
  return memory == nullptr ? nullptr : new (memory) Array{{.kind = kind}, length};
}

Object* Heap::allocate(Object head) {
  void* const memory = allocate_bytes(sizeof(Object) + head.fields * sizeof(std::int64_t));
  return memory == nullptr ? nullptr : new (memory) Object(head);
}

void* Heap::allocate_bytes(std::size_t size) {
  if (size > limit_ - used_) return nullptr;
  void* const memory = std::malloc(size);
  if (memory == nullptr) return nullptr;
  used_ += size;
  all_.push_back(memory);
  return memory;
}

}  // namespace nib
