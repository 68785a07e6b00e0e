// The debug sections of a symbol file, relocated, in a file of their own that libdw can open: whatever the
// JIT's headers are like, libdw sees only ours.
//
// Context   the plugin. Throws std::bad_alloc.
#pragma once

#include <cstdint>
#include <vector>

#include "agent/intake/symfile/elf_image.hpp"

namespace jitquill::symfile {

// An ELF file; empty if the image has no line table.
std::vector<std::uint8_t> debug_copy(const ElfImage& image);

}  // namespace jitquill::symfile
