// Texts for formats whose readers stop at a byte that is no UTF-8.
//
// Context   any; puts into the caller's buffer.
// Promises  what is put is valid UTF-8 (no surrogates, nothing longer than needed), ends between two
//           characters, and has at most `most` bytes. Each byte that belongs to no character becomes '?'.
//           Control characters stay.
#pragma once

#include <cstddef>
#include <string_view>

#include "writer/bytes/bytes.hpp"

namespace jitquill {

// Bytes of the valid character that `text` begins with; 0: there is none.
std::size_t character_size(std::string_view text) noexcept;

bool is_utf8(std::string_view text) noexcept;

// False: not all of it had room.
bool put_utf8(Bytes& out, std::string_view text, std::size_t most) noexcept;

}  // namespace jitquill
