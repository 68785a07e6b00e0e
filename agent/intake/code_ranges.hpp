// Which memory can hold code that a JIT made (base/code_memory.hpp). What lies in a file, as node's builtins
// do, perf knows from there, with unwinding tables that we do not have.
//
// Context   [notify], under the intakes' lock.
// Promises  a range that was seen is known from then on: JITs take the right to execute away while they
//           write.
#pragma once

#include <cstdint>

#include "agent/base/code_memory.hpp"
#include "agent/intake/memory.hpp"

namespace jitquill::intake {

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

}  // namespace jitquill::intake
