#include "agent/intake/symfile/debug_copy.hpp"

#include <algorithm>
#include <cstring>

namespace jitquill::symfile {
namespace {

// A byte of a line program may become a row of 40 in memory.
constexpr std::size_t kMostDebugBytes = 64 * 1024 * 1024;

bool is_debug(const ElfSection& section) noexcept {
  return section.name.starts_with(".debug_") && !section.content.empty() &&
         (section.header.sh_flags & SHF_COMPRESSED) == 0;
}

void put(std::uint8_t* to, std::uint64_t value, std::size_t size) noexcept {
  std::memcpy(to, &value, size);
}

std::size_t field_size(std::uint32_t type) noexcept {
  switch (type) {
    case R_X86_64_64:
      return 8;
    case R_X86_64_32:
    case R_X86_64_32S:
    case R_X86_64_PC32:
    case R_X86_64_PLT32:
      return 4;
    default:
      return 0;
  }
}

// `content` is a copy of section number `index`.
void relocate(const ElfImage& image, std::size_t index, std::span<std::uint8_t> content) noexcept {
  const ElfSection* const relocations = image.relocations_of(index);
  if (relocations == nullptr || relocations->header.sh_link >= image.sections().size()) return;
  const ElfSection& symbols = image.sections()[relocations->header.sh_link];
  const std::uint64_t address = image.sections()[index].header.sh_addr;
  const std::size_t count = relocations->content.size() / sizeof(Elf64_Rela);
  for (std::size_t i = 0; i < count; ++i) {
    Elf64_Rela entry;
    std::memcpy(&entry, relocations->content.data() + i * sizeof entry, sizeof entry);
    const auto type = static_cast<std::uint32_t>(ELF64_R_TYPE(entry.r_info));
    const std::size_t size = field_size(type);
    if (size == 0 || entry.r_offset > content.size() || size > content.size() - entry.r_offset) continue;
    std::uint64_t value =
        image.value_of(symbols, ELF64_R_SYM(entry.r_info)) + static_cast<std::uint64_t>(entry.r_addend);
    if (type == R_X86_64_PC32 || type == R_X86_64_PLT32) value -= address + entry.r_offset;
    put(content.data() + entry.r_offset, value, size);
  }
}

// | ELF header | each section's bytes | names | section headers: none, each section, names |
class DebugFile {
 public:
  DebugFile() { file_.resize(sizeof(Elf64_Ehdr)); }

  std::span<std::uint8_t> add(const ElfSection& section) {
    headers_.push_back(header(section.name));
    headers_.back().sh_size = section.content.size();
    headers_.back().sh_flags = section.header.sh_flags & (SHF_MERGE | SHF_STRINGS);
    headers_.back().sh_entsize = section.header.sh_entsize & 1;
    file_.insert(file_.end(), section.content.begin(), section.content.end());
    return std::span(file_).last(section.content.size());
  }

  std::vector<std::uint8_t> finish() {
    Elf64_Shdr names = header(".shstrtab");
    names.sh_type = SHT_STRTAB;
    names.sh_size = names_.size();
    headers_.push_back(names);
    file_.insert(file_.end(), names_.begin(), names_.end());
    file_.resize((file_.size() + 7) & ~std::size_t{7});
    const std::size_t table = file_.size();
    file_.resize(table + headers_.size() * sizeof(Elf64_Shdr));
    std::memcpy(file_.data() + table, headers_.data(), headers_.size() * sizeof(Elf64_Shdr));
    put_file_header(table);
    return std::move(file_);
  }

 private:
  Elf64_Shdr header(std::string_view name) {
    Elf64_Shdr header{};
    header.sh_name = static_cast<Elf64_Word>(names_.size());
    header.sh_type = SHT_PROGBITS;
    header.sh_offset = file_.size();
    header.sh_addralign = 1;
    names_.insert(names_.end(), name.begin(), name.end());
    names_.push_back('\0');
    return header;
  }

  void put_file_header(std::size_t table) noexcept {
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_type = ET_EXEC;  // relocated
    header.e_machine = EM_X86_64;
    header.e_version = EV_CURRENT;
    header.e_ehsize = sizeof header;
    header.e_shoff = table;
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = static_cast<Elf64_Half>(headers_.size());
    header.e_shstrndx = static_cast<Elf64_Half>(headers_.size() - 1);
    std::memcpy(file_.data(), &header, sizeof header);
  }

  std::vector<std::uint8_t> file_;
  std::vector<char> names_ = {'\0'};
  std::vector<Elf64_Shdr> headers_ = {Elf64_Shdr{}};
};

}  // namespace

std::vector<std::uint8_t> debug_copy(const ElfImage& image) {
  constexpr std::size_t kMostSections = 1000;  // e_shnum has 16 bits, and nobody has so many
  DebugFile file;
  std::size_t bytes = 0;
  std::size_t count = 0;
  bool has_lines = false;
  for (std::size_t i = 0; i < image.sections().size(); ++i) {
    const ElfSection& section = image.sections()[i];
    if (!is_debug(section)) continue;
    bytes += section.content.size();
    if (bytes > kMostDebugBytes || ++count > kMostSections) return {};
    has_lines = has_lines || section.name == ".debug_line";
    relocate(image, i, file.add(section));
  }
  return has_lines ? file.finish() : std::vector<std::uint8_t>{};
}

}  // namespace jitquill::symfile
