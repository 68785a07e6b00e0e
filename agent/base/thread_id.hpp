// The calling thread's kernel number, without a system call after a thread's first question.
//
// Context   [hook].
// Promises  right after fork and raw clone too: the cached number counts only in the process generation it
//           was asked in. In a vfork child it is the parent thread's, which is suspended meanwhile.
#pragma once

#include <cstdint>

namespace jitquill {

std::uint32_t current_tid() noexcept;

// The process's, by a system call: a vfork child's is its own.
std::uint32_t current_pid() noexcept;

}  // namespace jitquill
