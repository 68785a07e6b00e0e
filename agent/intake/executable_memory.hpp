// What the borrowed mmap, mprotect and pkey_mprotect tell when memory has become executable.
//
// Context   [notify]: any thread of the host, right after the call succeeded. Only executable anonymous
//           memory leads to more than a look at a path: no allocator makes that, so the caller is not inside
//           of one, and plugins may allocate from the host.
// Promises  errno is kept.
#pragma once

#include <cstddef>

namespace jitquill::intake {

// `file`: the descriptor that was mapped; -1: none, or not known.
void made_executable(const void* address, std::size_t size, int file);

}  // namespace jitquill::intake
