// The one record of a perf map: a line of text.
//
// Context   any; puts into the caller's buffer, where running out of memory shows.
// Promises  one newline, at the end; a name that perf shows.
#pragma once

#include <cstdint>
#include <string_view>

#include "writer/bytes/bytes.hpp"

namespace jitquill::perfmap {

// <start, hex> <size, hex> <name>: no 0x, no leading zeros. True if the name had to be changed.
bool put_line(Bytes& out, std::uint64_t start, std::uint64_t size, std::string_view name) noexcept;

}  // namespace jitquill::perfmap
