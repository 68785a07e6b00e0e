// Names from a runtime, made fit for formats whose readers work with lines and NUL-terminated strings.
//
// Context   any; puts into the caller's buffer.
// Promises  what is put has no control character (each becomes '?': a newline in a symbol breaks addr2line
//           and everything that reads perf script), no NUL, at most kMaxNameSize bytes, and ends between
//           two UTF-8 characters if the name was UTF-8.
// Does not  put a terminator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "writer/bytes/bytes.hpp"

namespace jitquill {

inline constexpr std::size_t kMaxNameSize = 4096;  // bytes; some readers have buffers not much larger
// What to read of a name that has no end in sight: so much more than is put that the cut is seen, and falls
// between two characters.
inline constexpr std::size_t kNameToRead = kMaxNameSize + 1;

// As many of the first characters as have at most `most` bytes together. Where it is not UTF-8, bytes.
std::string_view first_characters(std::string_view text, std::size_t most) noexcept;

// True if the name had to be changed.
bool put_clean(Bytes& out, std::string_view name) noexcept;

// As put_clean(); a nameless function is called jit_<address in hex>, since an empty symbol is none.
bool put_code_name(Bytes& out, std::string_view name, std::uint64_t address) noexcept;

}  // namespace jitquill
