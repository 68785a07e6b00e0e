// The call stack of a function at its entry: registers and a slice of the stack's memory, in one post. Who
// called whom is found out by the drain (agent/stacks), since that takes tables, memory and time.
//
//   payload   | what u64 | pc sp bx bp r12 r13 r14 r15, u64 each | slice: the stack from sp upwards |
//
// `what` as in the entry's own record, which follows: kind, and code id or address. Return addresses in the
// slice are those of callers, also where a hook has taken them (hooks/mirror.hpp).
//
// Context   [hook]. No system call on a thread's own stack; on a fiber's or a handler's one, which asks how
//           far it can be read.
// Promises  never reads what is not there. Bounded: a deeper stack is cut. One that finds no room is lost,
//           and counted, as any record.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "agent/lanes/lane.hpp"
#include "writer/bytes/growing_array.hpp"

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

// The frame that stands at `registers`.
void put_call_stack(RecordKind kind, std::uint64_t value, const StackRegisters& registers) noexcept;

// Which native functions' stacks are wanted, since their hooks know no names: the address space in pieces,
// each up to where the next one begins, the first from 0 on. Code that the drain has not seen yet is wanted,
// so that the first calls into a library are not missed: the drain leaves out what is not. A table stays for
// ever once it was told: a hook may be reading it.
struct WantedPiece {
  std::uint64_t start;
  std::uint64_t is_wanted;
};
struct WantedPieces {
  const WantedPiece* pieces;
  std::size_t count;
};
extern constinit std::atomic<const WantedPieces*> g_wanted_stacks;  // null: none

struct AddressSpan {
  std::uint64_t start;
  std::uint64_t end;
};
// [drain]: sorts them, and has hooks use them from now on. Of `seen`, all code that was looked at, `wanted`
// is a part. Without memory what was told before stands.
void tell_wanted_stacks(GrowingArray<AddressSpan>& seen, GrowingArray<AddressSpan>& wanted) noexcept;

bool is_stack_wanted(std::uint64_t address) noexcept;

}  // namespace jitquill::lanes
