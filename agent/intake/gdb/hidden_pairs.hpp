// GDB JIT interfaces that an object does not export, as those of programs that are linked with LLVM's static
// libraries: found in the file's symbol table.
//
// Context   inside dl_iterate_phdr(), under the intakes' lock.
// Promises  a file is read once.
#pragma once

#include <cstdint>

#include "agent/base/elf_object.hpp"
#include "agent/intake/memory.hpp"

namespace jitquill::gdb {

struct HiddenPair {
  std::uint64_t function = 0;  // 0: there is none
  std::uint64_t descriptor = 0;
};

class HiddenPairs {
 public:
  HiddenPair of(const ElfObject& object) noexcept;

 private:
  struct Known {
    std::uint64_t base;
    std::uint64_t path;  // a hash of it: another object may have come to the same place
    HiddenPair pair;
  };

  intake::Growing<Known> known_;
};

}  // namespace jitquill::gdb
