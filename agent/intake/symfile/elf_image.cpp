#include "agent/intake/symfile/elf_image.hpp"

#include <algorithm>
#include <cstring>

#include "writer/bytes/names.hpp"

namespace jitquill::symfile {
namespace {

// What is larger is in no address space.
constexpr std::uint64_t kEndOfUserSpace = std::uint64_t{1} << 56;

// Sections may share bytes: some JITs have one table for all names. But 65,535 that each are the whole file
// would be read for minutes.
constexpr std::uint64_t kMostShares = 4;

bool is_possible(const ElfFunction& function) noexcept {
  return function.address != 0 && function.size != 0 && function.address < kEndOfUserSpace &&
         function.size < kEndOfUserSpace;
}

std::span<const std::uint8_t> part(std::span<const std::uint8_t> file, std::uint64_t from,
                                   std::uint64_t size) noexcept {
  if (from > file.size() || size > file.size() - from) return {};
  return file.subspan(static_cast<std::size_t>(from), static_cast<std::size_t>(size));
}

bool is_known_kind(const Elf64_Ehdr& header) noexcept {
  return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_CLASS] == ELFCLASS64 &&
         header.e_ident[EI_DATA] == ELFDATA2LSB && header.e_machine == EM_X86_64 &&
         header.e_shentsize == sizeof(Elf64_Shdr) &&
         (header.e_type == ET_REL || header.e_type == ET_EXEC || header.e_type == ET_DYN);
}

// One symbol an address: the longest, since an alias may be a mere mark.
void drop_aliases_and_overlaps(std::vector<ElfFunction>& functions) {
  std::stable_sort(functions.begin(), functions.end(), [](const ElfFunction& a, const ElfFunction& b) {
    return a.address != b.address ? a.address < b.address : a.size > b.size;
  });
  const auto same = [](const ElfFunction& a, const ElfFunction& b) { return a.address == b.address; };
  functions.erase(std::unique(functions.begin(), functions.end(), same), functions.end());
  for (std::size_t i = 0; i + 1 < functions.size(); ++i) {
    functions[i].size = std::min(functions[i].size, functions[i + 1].address - functions[i].address);
  }
}

}  // namespace

template <class Entry>
std::optional<Entry> ElfImage::entry_at(std::span<const std::uint8_t> table, std::uint64_t index) noexcept {
  if (index >= table.size() / sizeof(Entry)) return std::nullopt;
  Entry entry;
  std::memcpy(&entry, table.data() + index * sizeof entry, sizeof entry);  // nothing is aligned for sure
  return entry;
}

std::string_view ElfImage::text_at(const ElfSection& strings, std::uint64_t offset) const noexcept {
  if (offset >= strings.content.size()) return {};
  const auto* const from = reinterpret_cast<const char*>(strings.content.data()) + offset;
  const std::size_t room = strings.content.size() - static_cast<std::size_t>(offset);
  const void* const end = std::memchr(from, 0, std::min(room, kNameToRead));
  if (end != nullptr) return {from, static_cast<std::size_t>(static_cast<const char*>(end) - from)};
  return room > kNameToRead ? std::string_view(from, kNameToRead) : std::string_view{};
}

std::optional<ElfImage> ElfImage::read(std::span<const std::uint8_t> file) {
  const auto header = entry_at<Elf64_Ehdr>(file, 0);
  if (!header || !is_known_kind(*header)) return std::nullopt;
  const auto table = part(file, header->e_shoff, std::uint64_t{header->e_shnum} * sizeof(Elf64_Shdr));
  if (table.empty()) return std::nullopt;

  ElfImage image;
  image.file_ = file;
  image.is_relocatable_ = header->e_type == ET_REL;
  std::uint64_t room = kMostShares * std::uint64_t{file.size()};
  for (std::uint16_t i = 0; i < header->e_shnum; ++i) {
    ElfSection section{*entry_at<Elf64_Shdr>(table, i), {}, {}};
    if (section.header.sh_type != SHT_NOBITS && section.header.sh_type != SHT_NULL)
      section.content = part(file, section.header.sh_offset, section.header.sh_size);
    if (section.content.size() > room) section.content = {};
    room -= section.content.size();
    image.sections_.push_back(section);
  }
  if (header->e_shstrndx < image.sections_.size()) {
    const ElfSection& names = image.sections_[header->e_shstrndx];
    for (ElfSection& section : image.sections_) section.name = image.text_at(names, section.header.sh_name);
  }
  image.find_relocations();
  return image;
}

void ElfImage::find_relocations() {
  relocations_.resize(sections_.size(), 0);
  for (std::size_t i = 0; i < sections_.size(); ++i) {
    const ElfSection& section = sections_[i];
    if (section.header.sh_type == SHT_RELA && section.header.sh_info < sections_.size() &&
        section.content.size() >= sizeof(Elf64_Rela))
      relocations_[section.header.sh_info] = i;
  }
}

const ElfSection* ElfImage::relocations_of(std::size_t index) const noexcept {
  return relocations_[index] == 0 ? nullptr : &sections_[relocations_[index]];
}

// In files that say so values count from the section's start; some that do not say so do it too.
std::uint64_t ElfImage::address_of(const Elf64_Sym& symbol) const noexcept {
  if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx >= sections_.size()) return 0;
  const Elf64_Shdr& section = sections_[symbol.st_shndx].header;
  const bool is_relative =
      is_relocatable_ || (symbol.st_value < section.sh_addr && symbol.st_value < section.sh_size);
  return symbol.st_value + (is_relative ? section.sh_addr : 0);
}

std::uint64_t ElfImage::value_of(const ElfSection& table, std::uint64_t symbol) const noexcept {
  const auto entry = entry_at<Elf64_Sym>(table.content, symbol);
  return entry ? address_of(*entry) : 0;
}

void ElfImage::add_symbols(const ElfSection& table, std::vector<ElfFunction>& to) const {
  if (table.header.sh_link >= sections_.size()) return;
  const ElfSection& strings = sections_[table.header.sh_link];
  for (std::uint64_t i = 0; const auto symbol = entry_at<Elf64_Sym>(table.content, i); ++i) {
    if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || symbol->st_shndx >= sections_.size()) continue;
    const ElfSection& section = sections_[symbol->st_shndx];
    const std::uint64_t offset = address_of(*symbol) - section.header.sh_addr;
    if (!section.is_code() || offset >= section.header.sh_size) continue;
    const std::uint64_t rest = section.header.sh_size - offset;
    // A size of 0 is a size that nobody set: up to the next symbol, which is where it is cut.
    const std::uint64_t size = symbol->st_size == 0 ? rest : std::min(symbol->st_size, rest);
    const std::string_view name = text_at(strings, symbol->st_name);
    const ElfFunction function{section.header.sh_addr + offset, size, name.empty() ? section.name : name};
    if (is_possible(function)) to.push_back(function);
  }
}

// Sections that no symbol is in.
void ElfImage::add_nameless(std::vector<ElfFunction>& to) const {
  const std::size_t named = to.size();  // sorted
  for (const ElfSection& section : sections_) {
    if (!section.is_code()) continue;
    const auto end = to.begin() + static_cast<std::ptrdiff_t>(named);
    const auto first = std::lower_bound(
        to.begin(), end, section.header.sh_addr,
        [](const ElfFunction& function, std::uint64_t address) { return function.address < address; });
    if (first != end && first->address - section.header.sh_addr < section.header.sh_size) continue;
    const ElfFunction function{section.header.sh_addr, section.header.sh_size, section.name};
    if (is_possible(function)) to.push_back(function);
  }
}

std::vector<ElfFunction> ElfImage::functions() const {
  std::vector<ElfFunction> found;
  for (const ElfSection& section : sections_) {
    if (section.header.sh_type == SHT_SYMTAB) add_symbols(section, found);
  }
  drop_aliases_and_overlaps(found);
  add_nameless(found);
  drop_aliases_and_overlaps(found);
  return found;
}

}  // namespace jitquill::symfile
