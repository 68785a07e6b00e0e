// Puts a jump over the entry of an empty function of the host: the one on which debuggers put a breakpoint.
//
// Context   under the intakes' lock, the function's object being mapped.
// Promises  threads that are about to run the function see either the old code or the jump. Nothing is
//           written where the code is not known to do nothing, or leaves too little room: false then.
#pragma once

#include <cstdint>

#include "agent/intake/symfile/plugin.hpp"

namespace jitquill::gdb {

bool patch_entry(std::uint64_t function, void (*to)(), const symfile::Plugin& plugin) noexcept;

// Whether it begins as patch_entry() leaves it.
bool has_jump(std::uint64_t function) noexcept;

}  // namespace jitquill::gdb
