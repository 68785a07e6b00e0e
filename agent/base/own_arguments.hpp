// What the process was started with: a NUL behind each argument.
//
// Context   [life]; raw system calls. Puts into the caller's buffer.
// Does not  say what the host has made of its argv since: the kernel shows the memory as it is now.
#pragma once

#include "writer/bytes/bytes.hpp"

namespace jitquill {

// At most `most` bytes. Nothing, without /proc.
void put_own_arguments(Bytes& out, std::size_t most) noexcept;

}  // namespace jitquill
