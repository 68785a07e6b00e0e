// The first instructions of a compiled function: how many bytes of them can be run at another address.
//
// Knows what compilers begin functions with (pushes, moves, arithmetic between registers, loads and stores
// that name no address relative to themselves) and no more: a decoder for what is met, not for everything.
//
// Context   any; allocates nothing.
// Promises  a length is given only if every instruction up to there means the same wherever it lies. Jumps,
//           calls, returns and rip-relative operands are refused, and so is what is unknown.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace jitquill {

// Bytes of the whole instructions from the front that cover at least `wanted` bytes; 0 = there are none.
std::size_t movable_prologue(std::span<const std::uint8_t> code, std::size_t wanted) noexcept;

}  // namespace jitquill
