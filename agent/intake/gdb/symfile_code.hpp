// A symbol file as it was copied from the host: which code it is of, whether that is final, and telling of
// it.
//
// Context   under the intakes' lock.
// Promises  nothing in the file is trusted, and the code it names is read without faults.
#pragma once

#include <cstdint>
#include <span>

#include "agent/intake/memory.hpp"

namespace jitquill::gdb {

class SymfileCode {
 public:
  explicit SymfileCode(std::span<const std::uint8_t> file) noexcept : file_(file) {}

  // False where what lies at its sections' addresses still is what the file has, though it has relocations:
  // LLVM's MCJIT registers code before it relocates it.
  bool is_final() const;
  bool has_code_in(std::uint64_t address, std::uint64_t size) const;

  // Tells every function, and adds their addresses. `since_ns`: when it may have run first, 0 = now. False:
  // of no kind that we know, or broken.
  bool tell(intake::Growing<std::uint64_t>& addresses, std::uint64_t since_ns) const;

 private:
  bool tell_elf(intake::Growing<std::uint64_t>& addresses, std::uint64_t since_ns) const;
  bool tell_beam(intake::Growing<std::uint64_t>& addresses) const;

  std::span<const std::uint8_t> file_;
};

}  // namespace jitquill::gdb
