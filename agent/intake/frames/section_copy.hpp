// A private copy of a registered section, whose size nobody tells.
//
// Context   [notify], under the intakes' lock.
// Promises  ends at the word of zeroes, at what cannot be read, or at 64 MiB.
#pragma once

#include <cstdint>

#include "agent/intake/memory.hpp"

namespace jitquill::frames {

struct SectionCopy {
  intake::Block bytes;
  std::uint64_t address = 0;  // of its first byte: in front of what was registered, if that is one FDE
};

// Without bytes: unreadable, or no memory.
SectionCopy copy_section(std::uint64_t registered) noexcept;

// The bytes of a section whose extent is known.
intake::Block copy_bytes(std::uint64_t address, std::uint64_t size) noexcept;

}  // namespace jitquill::frames
