// The agent's own operator new and delete, hidden from the host by the library's version script: whatever the
// writers and the standard containers allocate inside this library comes from the arena of the lock that the
// thread holds.
#include <cstddef>
#include <new>

#include "agent/base/arena.hpp"
#include "agent/base/drain_lock.hpp"

namespace {

jitquill::Arena& my_arena() noexcept {
  return jitquill::DrainLock::is_mine() ? jitquill::drain_arena() : jitquill::arena();
}

void give_back(void* block) noexcept {
  if (block != nullptr) jitquill::arena_of(block).free(block);
}

}  // namespace

// The throwing forms cannot report failure in a library without exceptions: who uses them (containers) asks
// Arena::can_serve() first.
void* operator new(std::size_t size) {
  return my_arena().allocate(size);
}
void* operator new[](std::size_t size) {
  return my_arena().allocate(size);
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return my_arena().allocate(size);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return my_arena().allocate(size);
}
void operator delete(void* block) noexcept {
  give_back(block);
}
void operator delete[](void* block) noexcept {
  give_back(block);
}
void operator delete(void* block, std::size_t) noexcept {
  give_back(block);
}
void operator delete[](void* block, std::size_t) noexcept {
  give_back(block);
}
void operator delete(void* block, const std::nothrow_t&) noexcept {
  give_back(block);
}
void operator delete[](void* block, const std::nothrow_t&) noexcept {
  give_back(block);
}
