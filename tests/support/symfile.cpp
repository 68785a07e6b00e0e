#include "tests/support/symfile.hpp"

#include <cstring>

namespace test_support {
namespace {

template <class T>
void append(std::vector<std::uint8_t>& to, const T& value) {
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(&value);
  to.insert(to.end(), bytes, bytes + sizeof value);
}

class File {
 public:
  File() : bytes_(sizeof(Elf64_Ehdr)), headers_(1) {}

  std::size_t add(const std::string& name, std::uint32_t type, const std::vector<std::uint8_t>& bytes) {
    Elf64_Shdr header{};
    header.sh_name = static_cast<Elf64_Word>(names_.size());
    header.sh_type = type;
    header.sh_offset = bytes_.size();
    header.sh_size = bytes.size();
    header.sh_addralign = 1;
    names_ += name;
    names_ += '\0';
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    headers_.push_back(header);
    return headers_.size() - 1;
  }
  Elf64_Shdr& header(std::size_t at) { return headers_[at]; }

  std::vector<std::uint8_t> finish(std::uint16_t type) {
    const std::string own_name = ".shstrtab";
    const std::size_t names = add(own_name, SHT_STRTAB, {});
    headers_[names].sh_size = names_.size();
    bytes_.insert(bytes_.end(), names_.begin(), names_.end());
    Elf64_Ehdr file{};
    std::memcpy(file.e_ident, ELFMAG, SELFMAG);
    file.e_ident[EI_CLASS] = ELFCLASS64;
    file.e_ident[EI_DATA] = ELFDATA2LSB;
    file.e_ident[EI_VERSION] = EV_CURRENT;
    file.e_type = type;
    file.e_machine = EM_X86_64;
    file.e_version = EV_CURRENT;
    file.e_ehsize = sizeof file;
    file.e_shoff = bytes_.size();
    file.e_shentsize = sizeof(Elf64_Shdr);
    file.e_shnum = static_cast<Elf64_Half>(headers_.size());
    file.e_shstrndx = static_cast<Elf64_Half>(names);
    std::memcpy(bytes_.data(), &file, sizeof file);
    for (const Elf64_Shdr& header : headers_) append(bytes_, header);
    return bytes_;
  }

 private:
  std::vector<std::uint8_t> bytes_;
  std::string names_ = std::string(1, '\0');
  std::vector<Elf64_Shdr> headers_;
};

}  // namespace

std::vector<std::uint8_t> Symfile::build() const {
  File file;
  for (const SymfileSection& section : sections) {
    const std::size_t at = file.add(section.name, SHT_PROGBITS, section.bytes);
    file.header(at).sh_addr = section.address;
    file.header(at).sh_flags = section.flags;
    if (section.no_bits_size == 0) continue;
    file.header(at).sh_type = SHT_NOBITS;
    file.header(at).sh_size = section.no_bits_size;
  }
  std::vector<std::uint8_t> table(sizeof(Elf64_Sym));
  std::vector<std::uint8_t> strings(1);
  for (const SymfileSymbol& symbol : symbols) {
    Elf64_Sym entry{};
    entry.st_name = static_cast<Elf64_Word>(strings.size());
    entry.st_info = static_cast<unsigned char>(ELF64_ST_INFO(STB_GLOBAL, symbol.type));
    entry.st_shndx = static_cast<Elf64_Section>(symbol.section + 1);
    entry.st_value = symbol.value;
    entry.st_size = symbol.size;
    append(table, entry);
    strings.insert(strings.end(), symbol.name.begin(), symbol.name.end());
    strings.push_back(0);
  }
  const std::size_t symbol_table = file.add(".symtab", SHT_SYMTAB, table);
  const std::size_t string_table = file.add(".strtab", SHT_STRTAB, strings);
  file.header(symbol_table).sh_link = static_cast<Elf64_Word>(string_table);
  file.header(symbol_table).sh_entsize = sizeof(Elf64_Sym);
  for (std::size_t i = 0; i < sections.size(); ++i) {
    std::vector<std::uint8_t> entries;
    for (const Elf64_Rela& relocation : sections[i].relocations) append(entries, relocation);
    if (entries.empty()) continue;
    const std::size_t at = file.add(".rela" + sections[i].name, SHT_RELA, entries);
    file.header(at).sh_link = static_cast<Elf64_Word>(symbol_table);
    file.header(at).sh_info = static_cast<Elf64_Word>(i + 1);
    file.header(at).sh_entsize = sizeof(Elf64_Rela);
  }
  return file.finish(type);
}

void load_at(std::span<std::uint8_t> object, std::uint64_t address, std::uint64_t gap) {
  Elf64_Ehdr file;
  std::memcpy(&file, object.data(), sizeof file);
  for (std::size_t i = 0; i < file.e_shnum; ++i) {
    std::uint8_t* const at = object.data() + file.e_shoff + i * sizeof(Elf64_Shdr);
    Elf64_Shdr header;
    std::memcpy(&header, at, sizeof header);
    if ((header.sh_flags & SHF_ALLOC) == 0 || header.sh_size == 0) continue;
    header.sh_addr = address;
    address += header.sh_size + gap;
    std::memcpy(at, &header, sizeof header);
  }
}

}  // namespace test_support
