// Which stack is the calling thread's own, and what else lies where, from what the kernel knows:
// pthread_getattr_np() allocates and locks.
//
// Context   [hook]; a few raw system calls.
// Does not  tell stacks apart that touch each other without a guard page: jitquill_stack() is for those.
#pragma once

#include <cstddef>
#include <cstdint>

namespace jitquill::lanes {

struct StackBounds {
  std::uint64_t low = 0;  // [low, high); both 0 = unknown
  std::uint64_t high = 0;

  constexpr bool has(std::uint64_t address) const noexcept { return address >= low && address < high; }
};

inline constexpr std::size_t kMapsScratchSize = 4096;

// The thread's own stack if `stack_pointer` is on it: the mapping; of the main thread's all that it may grow
// to. Unknown elsewhere: many fibers' stacks may be in one mapping. `scratch`: of kMapsScratchSize bytes;
// dirty afterwards.
StackBounds own_stack(std::uint64_t stack_pointer, char* scratch) noexcept;

// The mapping that holds the address: on a fiber its stack, and perhaps others'. `scratch` as above.
StackBounds mapping_around(std::uint64_t address, char* scratch) noexcept;

// Whether code may run there. `scratch` as above.
bool is_in_code(std::uint64_t address, char* scratch) noexcept;

// The stack that the thread set for its signal handlers.
StackBounds signal_stack() noexcept;

}  // namespace jitquill::lanes
