#include "tests/unit/writer/failing_new.hpp"

#include <cstdlib>
#include <new>

namespace {

bool memory_is_out = false;

}  // namespace

namespace jitquill::tests {

NoMemoryHere::NoMemoryHere() {
  memory_is_out = true;
}
NoMemoryHere::~NoMemoryHere() {
  memory_is_out = false;
}

}  // namespace jitquill::tests

// All of a kind are replaced together: a sanitizer compares who allocated with who frees.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return memory_is_out ? nullptr : std::malloc(size);
}
void* operator new(std::size_t size) {
  if (void* const memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
