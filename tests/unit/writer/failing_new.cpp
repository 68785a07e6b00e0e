#include "tests/unit/writer/failing_new.hpp"

#include <cstdlib>
#include <new>

namespace {

constexpr std::uint64_t kPlenty = ~std::uint64_t{0};
std::uint64_t left = kPlenty;  // allocations

bool may_allocate() noexcept {
  if (left == kPlenty) return true;
  if (left == 0) return false;
  --left;
  return true;
}

}  // namespace

namespace jitquill::tests {

NoMemoryHere::NoMemoryHere(std::uint64_t spared) {
  left = spared;
}
NoMemoryHere::~NoMemoryHere() {
  left = kPlenty;
}

}  // namespace jitquill::tests

// All of a kind are replaced together: a sanitizer compares who allocated with who frees.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return may_allocate() ? std::malloc(size) : nullptr;
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
