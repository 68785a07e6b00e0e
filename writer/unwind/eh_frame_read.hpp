// Reads a compiler's .eh_frame and cuts out what belongs to each function.
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
  std::uint64_t address = 0;  // of the FDE itself
};

// Goes through a section that was written for `section_address`, up to its end or its word of zeroes.
class FdeWalk {
 public:
  // `text_address`: what text-relative pointers count from; 0 = unknown, they are refused. `from`: where an
  // entry begins.
  FdeWalk(std::span<const std::uint8_t> section, std::uint64_t section_address,
          std::uint64_t text_address = 0, std::size_t from = 0) noexcept
      : section_(section), address_(section_address), text_address_(text_address), at_(from) {}

  // The next that can be read; nothing at the end.
  std::optional<FoundFde> next() noexcept;

 private:
  std::span<const std::uint8_t> section_;
  std::uint64_t address_;
  std::uint64_t text_address_;
  std::size_t at_;
};

// Finds as find_fde() does, for many functions of one section: quick where they are asked for in its order.
class FdeFinder {
 public:
  // `from`: where an entry begins that the first search may begin with; others are found all the same.
  FdeFinder(std::span<const std::uint8_t> section, std::uint64_t section_address,
            std::uint64_t text_address = 0, std::size_t from = 0) noexcept
      : section_(section),
        address_(section_address),
        text_address_(text_address),
        walk_(section, section_address, text_address, from) {}

  std::optional<FoundFde> find(std::uint64_t address, std::uint64_t size) noexcept;

 private:
  std::span<const std::uint8_t> section_;
  std::uint64_t address_;
  std::uint64_t text_address_;
  FdeWalk walk_;
};

// The FDE that begins at `address` and covers `size` bytes, of a section written for `section_address`.
std::optional<FoundFde> find_fde(std::span<const std::uint8_t> section, std::uint64_t section_address,
                                 std::uint64_t address, std::uint64_t size) noexcept;

}  // namespace jitquill::unwind
