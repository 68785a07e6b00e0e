// Copies memory that may not be readable, without a fault and without touching signal handlers.
//
// Context   [notify]; two system calls for each unreadable page, one for the rest.
// Promises  what cannot be read becomes `filler`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace jitquill {

// int3: what stands for code that cannot be read.
inline constexpr std::uint8_t kTrap = 0xCC;

// True if every byte could be read. `to` has room for as many bytes as `from`.
bool safe_copy(std::span<const std::uint8_t> from, std::uint8_t* to, std::uint8_t filler) noexcept;

}  // namespace jitquill
