// Announces functions whose unwinding is known and whose name nobody tells: without one, so that outputs call
// them after where they lie, jit_7f0123456789. A profiler shows its samples as one function then, whole
// stacks through it, and its instructions.
//
// Context   [notify], under the intakes' lock; async-signal-safe.
// Promises  never over code that is known otherwise, nor in a file, which perf knows from there. A name that
//           is told later takes its place. Dated back to when it was registered.
#pragma once

#include <cstdint>

#include "agent/intake/code_ranges.hpp"

namespace jitquill::frames {

// The address space is looked at only for code in memory that was none before, and once a round: what lies in
// a file never becomes such memory.
class Stopgaps {
 public:
  void begin_round() noexcept { has_looked_ = false; }
  void tell(std::uint64_t address, std::uint64_t size, std::uint64_t since_ns);

 private:
  bool is_code(std::uint64_t address, std::uint64_t size) noexcept;

  intake::CodeRanges memory_;
  bool has_looked_ = false;  // in this round
};

}  // namespace jitquill::frames
