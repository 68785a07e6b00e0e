// Copies memory that may not be readable, without a fault and without touching signal handlers.
//
// Context   [notify]; two system calls for each unreadable page, one for the rest; of pieces, one for many.
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

// As above, but gives up at the first byte that cannot be read: for what is of no use in part, and whose size
// may be a lie.
bool copy_whole(std::span<const std::uint8_t> from, std::uint8_t* to) noexcept;

struct CopyPiece {
  const void* from;
  void* to;
  std::size_t size;
};

// Each as safe_copy(); far cheaper than one by one if they are small.
bool safe_copy(std::span<const CopyPiece> pieces, std::uint8_t filler) noexcept;

// One value; zeroes and false if it cannot be read.
template <class T>
bool safe_read(const void* from, T& to) noexcept {
  return safe_copy({static_cast<const std::uint8_t*>(from), sizeof to}, reinterpret_cast<std::uint8_t*>(&to),
                   0);
}
// Whether first and last byte can be read. What somebody says is code, and is not, is a large size more often
// than not: worth a look before all of it is copied.
bool can_read_ends(std::span<const std::uint8_t> bytes) noexcept;

}  // namespace jitquill
