// The agent's own operator new and delete, hidden from the host by the library's version script: whatever the
// writers and the standard containers allocate inside this library comes from the arena.
#include <cstddef>
#include <new>

#include "agent/base/arena.hpp"

// The throwing forms cannot report failure in a library without exceptions: who uses them (containers) asks
// Arena::can_serve() first.
void* operator new(std::size_t size) {
  return jitquill::arena().allocate(size);
}
void* operator new[](std::size_t size) {
  return jitquill::arena().allocate(size);
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return jitquill::arena().allocate(size);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return jitquill::arena().allocate(size);
}
void operator delete(void* block) noexcept {
  jitquill::arena().free(block);
}
void operator delete[](void* block) noexcept {
  jitquill::arena().free(block);
}
void operator delete(void* block, std::size_t) noexcept {
  jitquill::arena().free(block);
}
void operator delete[](void* block, std::size_t) noexcept {
  jitquill::arena().free(block);
}
void operator delete(void* block, const std::nothrow_t&) noexcept {
  jitquill::arena().free(block);
}
void operator delete[](void* block, const std::nothrow_t&) noexcept {
  jitquill::arena().free(block);
}
