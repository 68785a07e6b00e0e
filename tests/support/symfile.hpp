// Builds small ELF symbol files as JITs keep them for debuggers: section headers with run-time addresses,
// symbols, no program headers.
//
// Context   tests and host programs.
#pragma once

#include <elf.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace test_support {

struct SymfileSection {
  std::string name;
  std::uint64_t address = 0;
  std::vector<std::uint8_t> bytes;
  std::uint64_t flags = SHF_ALLOC | SHF_EXECINSTR;
  std::uint64_t no_bits_size = 0;         // not 0: SHT_NOBITS of this size
  std::vector<Elf64_Rela> relocations{};  // its own, against symbols by number
};

struct SymfileSymbol {
  std::string name;
  std::uint64_t value = 0;
  std::uint64_t size = 0;
  std::size_t section = 0;  // index into `sections`
  unsigned char type = STT_FUNC;
};

struct Symfile {
  std::uint16_t type = ET_REL;
  std::vector<SymfileSection> sections{};
  std::vector<SymfileSymbol> symbols{};

  std::vector<std::uint8_t> build() const;
};

// Gives each loaded section of an object file an address: the first one `address`, with `gap` in between.
void load_at(std::span<std::uint8_t> object, std::uint64_t address, std::uint64_t gap);

}  // namespace test_support
