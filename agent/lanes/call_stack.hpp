// The call stack of a function at its entry: registers and a slice of the stack's memory, in one post. Who
// called whom is found out by the drain (agent/stacks), since that takes tables, memory and time.
//
//   payload   | what u64 | pc sp bx bp r12 r13 r14 r15, u64 each | slice: the stack from sp upwards |
//
// `what` as in the entry's own record, which follows: kind, and code id or address. Return addresses in the
// slice are those of callers, also where a hook has taken them. hooks/stack_copy.hpp makes it.
//
// Context   any; plain values.
#pragma once

#include <cstddef>
#include <cstdint>

#include "agent/lanes/lane.hpp"
#include "agent/lanes/record.hpp"

namespace jitquill::lanes {

struct StackRegisters {
  std::uint64_t pc, sp, bx, bp, r12, r13, r14, r15;
};
struct StackHead {
  std::uint64_t what;
  StackRegisters registers;
};
static_assert(sizeof(StackHead) == 72);
inline constexpr std::size_t kMostSlice = (kMostPayload - sizeof(StackHead)) / 8 * 8;

}  // namespace jitquill::lanes
