// Texts for OpenJ9's formatter, which prints them as they are: a newline would forge a line, a NUL turns
// UTF-8 into UTF-16.
//
// Context   any; puts into the caller's buffer.
// Promises  what is put is valid UTF-8 without control characters: those, and bytes that belong to no
//           character, become `\n`, `\r`, `\t`, else `\x` and two digits. It ends between two characters, and
//           has at most `most` bytes.
// Does not  double a backslash: names of functions have them.
#pragma once

#include <cstddef>
#include <string_view>

#include "writer/bytes/bytes.hpp"

namespace jitquill::openj9 {

// The formatter reads a length as a signed number of 16 bits.
inline constexpr std::size_t kMostText = 32'767;

// False: not all of it had room.
bool put_text(Bytes& out, std::string_view text, std::size_t most) noexcept;

// For what it reads as ASCII up to a NUL, which is put: others become '?'. `most` is with the NUL, at
// least 1.
bool put_ascii(Bytes& out, std::string_view text, std::size_t most) noexcept;

}  // namespace jitquill::openj9
