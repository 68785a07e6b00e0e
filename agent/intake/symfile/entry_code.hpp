// Whether the code at a function's entry does nothing, so that a jump can be put over it.
//
// Context   the plugin. No allocation.
#pragma once

#include <cstdint>
#include <span>

#include "agent/intake/symfile/plugin.hpp"

namespace jitquill::symfile {

// `code` begins at an entry that is aligned to 16. Room ends at the border of 16 bytes behind the return, up
// to which there must be only what is never run: no other function begins in between.
EntryCode read_entry(std::span<const std::uint8_t> code) noexcept;

}  // namespace jitquill::symfile
