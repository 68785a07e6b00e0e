// A NUL-terminated text that somebody else vouches for, copied without faults.
//
// Context   [notify]; one system call for each 256 bytes.
// Promises  reads no page behind the one in which the text ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "agent/base/safe_copy.hpp"

namespace jitquill {

// How many bytes of the text, without its NUL, now lie in `to`, which has room for more than one; a longer
// text is cut. A NUL stands behind them. Nothing if it cannot be read up to its end.
inline std::optional<std::size_t> safe_text(const char* from, std::span<char> to) noexcept {
  constexpr std::size_t kPiece = 256;
  const std::size_t most = to.size() - 1;
  std::size_t size = 0;
  while (size < most) {
    // A page is as large as a multiple of this: so no piece reaches into a page that the text does not.
    std::size_t piece = kPiece - (reinterpret_cast<std::uintptr_t>(from) + size) % kPiece;
    if (piece > most - size) piece = most - size;
    const auto* const at = reinterpret_cast<const std::uint8_t*>(from) + size;
    if (!safe_copy({at, piece}, reinterpret_cast<std::uint8_t*>(to.data()) + size, 0)) return std::nullopt;
    if (const void* end = std::memchr(to.data() + size, 0, piece))
      return static_cast<std::size_t>(static_cast<const char*>(end) - to.data());
    size += piece;
  }
  to[most] = '\0';
  return most;
}

}  // namespace jitquill
