// Names that a loaded object does not export, looked up in the symbol table of the file that it was loaded
// from: debuggers' .symtab, which is there unless the file was stripped.
//
// Not by libelf, for which a plugin would have to be opened in every process with a file that was not
// stripped.
//
// Context   inside dl_iterate_phdr(), under the intakes' lock; raw system calls only. Some calls where the
//           file is stripped, as most are; else its names are read, 256 MiB of them at most.
// Promises  nothing in the file is trusted. A file that is not the one that was loaded (program headers and
//           notes, so the build-id, differ) has no names.
#pragma once

#include <cstdint>
#include <span>

#include "agent/base/elf_object.hpp"

namespace jitquill::intake {

struct FileSymbol {
  const char* name;
  std::uint64_t address = 0;  // in this process; 0 = not found
};

// True if each was found.
bool find_in_file(const ElfObject& object, std::span<FileSymbol> symbols) noexcept;

}  // namespace jitquill::intake
