// A private copy of a registered section, whose size nobody tells, or of one function's part of it.
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

// Where a function's FDE lies, and the CIE in front of it.
struct FdePlace {
  std::uint64_t address;
  std::uint32_t size;
  std::uint32_t cie_distance;  // from one's first byte to the other's
  std::uint32_t cie_size;
};

// `fde`: the address of one that was found in the copy.
FdePlace place_of(const SectionCopy& copy, std::uint64_t fde) noexcept;

// A section of these two alone, as they are now: what a function's unwinding costs, however many lie around
// it.
SectionCopy copy_fde(const FdePlace& place) noexcept;

}  // namespace jitquill::frames
