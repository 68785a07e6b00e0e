// Which memory is executable and belongs to no file: where code can be that a JIT made. What lies in a file,
// as node's builtins do, perf knows from there, with unwinding tables that we do not have.
//
// Context   [notify], under the intakes' lock.
// Promises  a range that was seen is known from then on: JITs take the right to execute away while they
// write.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "agent/intake/memory.hpp"

namespace jitquill::intake::perfmap {

struct AddressRange {
  std::uint64_t start;
  std::uint64_t end;
};

// A line of /proc/<pid>/maps, without its newline; nothing if no such code can be there.
std::optional<AddressRange> code_range(std::string_view line) noexcept;

class CodeRanges {
 public:
  static constexpr std::size_t kMost = 4096;

  bool has(std::uint64_t start, std::uint64_t size) const noexcept;
  // `maps`: /proc/self/maps, open. `room` is for what is read.
  void refresh(int maps, Block& room) noexcept;
  void forget() noexcept { ranges_.release(); }

 private:
  void add(AddressRange range) noexcept;

  Growing<AddressRange> ranges_ = {};  // ascending, disjoint, with gaps between them
};

}  // namespace jitquill::intake::perfmap
