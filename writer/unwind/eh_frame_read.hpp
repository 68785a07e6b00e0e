// Reads a compiler's .eh_frame and cuts out what belongs to one function.
//
// Context   any; no allocation. The result points into the section.
// Promises  never reads outside the section, whatever is in it. Refuses what cannot be moved to another
//           place: DW_CFA_set_loc, pointer encodings that are indirect or relative to something that only
//           the loader knows.
// Does not  keep the personality or language data: tools that only walk need neither.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "writer/model/unwinding.hpp"

namespace jitquill::unwind {

struct FoundFde {
  std::uint64_t pc_begin = 0;
  std::uint64_t pc_size = 0;
  ReadyCfi cfi;
};

// The FDE that begins at `address` and covers `size` bytes, of a section written for `section_address`.
std::optional<FoundFde> find_fde(std::span<const std::uint8_t> section, std::uint64_t section_address,
                                 std::uint64_t address, std::uint64_t size) noexcept;

}  // namespace jitquill::unwind
