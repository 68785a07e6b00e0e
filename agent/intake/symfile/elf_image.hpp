// An ELF file in memory, as a JIT hands it to debuggers: its sections and functions.
//
// Not libelf's view: a symbol file has no program headers, gives run-time addresses in its section headers,
// and may be wrong in every field.
//
// Context   the plugin. Throws std::bad_alloc, which plugin.cpp catches.
// Promises  every span lies inside the file. Points into it.
#pragma once

#include <elf.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace jitquill::symfile {

struct ElfSection {
  Elf64_Shdr header{};
  std::string_view name;
  std::span<const std::uint8_t> content;  // empty for SHT_NOBITS

  bool is_code() const noexcept {
    constexpr std::uint64_t kCode = SHF_ALLOC | SHF_EXECINSTR;
    return (header.sh_flags & kCode) == kCode && header.sh_addr != 0 && header.sh_size != 0;
  }
};

struct ElfFunction {
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  std::string_view name;
};

class ElfImage {
 public:
  // Nothing unless it is a 64-bit x86 file whose section headers lie inside.
  static std::optional<ElfImage> read(std::span<const std::uint8_t> file);

  const std::vector<ElfSection>& sections() const noexcept { return sections_; }
  // The section with relocations for section number `index`; null if there is none with entries.
  const ElfSection* relocations_of(std::size_t index) const noexcept;
  // Run-time address of what a symbol of that table stands for; 0 for symbols of sections that are not
  // loaded.
  std::uint64_t value_of(const ElfSection& table, std::uint64_t symbol) const noexcept;

  // All that have code, by address; overlaps are cut, and code without a symbol has its section's name.
  std::vector<ElfFunction> functions() const;

 private:
  template <class Entry>
  static std::optional<Entry> entry_at(std::span<const std::uint8_t> table, std::uint64_t index) noexcept;
  std::string_view text_at(const ElfSection& strings, std::uint64_t offset) const noexcept;
  std::uint64_t address_of(const Elf64_Sym& symbol) const noexcept;
  void find_relocations();
  void add_symbols(const ElfSection& table, std::vector<ElfFunction>& to) const;
  void add_nameless(std::vector<ElfFunction>& to) const;

  std::span<const std::uint8_t> file_;
  bool is_relocatable_ = false;
  std::vector<ElfSection> sections_;
  std::vector<std::size_t> relocations_;  // section with those of each section; 0 = none
};

}  // namespace jitquill::symfile
