#include "agent/drain/symbol_table.hpp"

#include <elf.h>
#include <fcntl.h>

#include <algorithm>
#include <cstring>

#include "agent/base/text_pieces.hpp"
#include "writer/bytes/raw_calls.hpp"

namespace jitquill::drain {
namespace {

constexpr std::uint64_t kMostNameBytes = std::uint64_t{256} << 20;
constexpr std::uint64_t kMostSymbols = std::uint64_t{1} << 23;
constexpr std::uint32_t kMostSections = 65'279;
constexpr std::uint32_t kMostSegments = 256;
constexpr std::size_t kMostNoteBytes = 4096;
constexpr std::size_t kMostAtOnePlace = 64;  // symbols below an address that are looked at

std::uint64_t aligned(std::uint64_t size) noexcept {
  return (size + 3) & ~std::uint64_t{3};
}

// Several names of one function: the one that others can see.
std::uint32_t rank_of(const Elf64_Sym& symbol) noexcept {
  const unsigned binding = ELF64_ST_BIND(symbol.st_info);
  const std::uint32_t by_binding = binding == STB_GLOBAL ? 0 : binding == STB_WEAK ? 1 : 2;
  return symbol.st_size == 0 ? by_binding + 3 : by_binding;
}

bool is_function(const Elf64_Sym& symbol) noexcept {
  const unsigned type = ELF64_ST_TYPE(symbol.st_info);
  return (type == STT_FUNC || type == STT_GNU_IFUNC) && symbol.st_shndx != SHN_UNDEF;
}

// `.symtab` may have a version behind the name.
bool is_hook(const char* name) noexcept {
  static constexpr std::string_view kNames[] = {
#define NATIVE_HOOK(name, number, hook) #name,
#include "agent/native_hooks.def"
#undef NATIVE_HOOK
  };
  std::string_view plain(name);
  plain = first(plain, plain.find('@'));
  return std::ranges::find(kNames, plain) != std::end(kNames);
}

}  // namespace

// | name size u32 | build-id size u32 | type u32 | name | build-id |, each padded to 4 bytes
bool take_build_id(std::span<const std::uint8_t> notes, FileIdentity& to) noexcept {
  constexpr std::size_t kHead = 12;
  while (notes.size() >= kHead) {
    std::uint32_t head[3];
    std::memcpy(head, notes.data(), kHead);
    const std::uint64_t name_end = kHead + aligned(head[0]);
    const std::uint64_t end = name_end + aligned(head[1]);
    if (end > notes.size()) return false;
    const bool is_it = head[2] == NT_GNU_BUILD_ID && head[0] == 4 &&
                       std::memcmp(notes.data() + kHead, "GNU", 4) == 0 && head[1] <= kMostBuildId;
    if (is_it) {
      std::memcpy(to.build_id, notes.data() + name_end, head[1]);
      to.build_id_size = static_cast<std::uint8_t>(head[1]);
      return true;
    }
    notes = notes.subspan(static_cast<std::size_t>(end));
  }
  return false;
}

struct SymbolTable::File {
  explicit File(const char* path) noexcept
      : descriptor(raw::open_at(AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0u)) {}
  ~File() {
    if (descriptor >= 0) raw::close(descriptor);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  bool read(std::uint64_t at, void* to, std::size_t size) const noexcept {
    return raw::call(SYS_pread64, descriptor, to, size, at) == static_cast<long>(size);
  }

  bool open() noexcept {
    const bool is_elf = descriptor >= 0 && read(0, &header, sizeof header) &&
                        std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
                        header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_shentsize == sizeof(Elf64_Shdr) &&
                        header.e_phentsize == sizeof(Elf64_Phdr) && header.e_phnum <= kMostSegments;
    if (!is_elf) return false;
    for (std::uint32_t i = 0; i < header.e_phnum; ++i) {
      Elf64_Phdr segment;
      if (!read(header.e_phoff + i * sizeof segment, &segment, sizeof segment) || !segments.push(segment))
        return false;
    }
    return true;
  }

  bool is(const FileIdentity& identity) const noexcept {
    if (identity.build_id_size == 0) {
      struct stat status {};
      return raw::status_of(descriptor, status) == 0 && status.st_ino == identity.inode;
    }
    for (const Elf64_Phdr& segment : segments.all()) {
      std::uint8_t notes[kMostNoteBytes];
      FileIdentity own;
      if (segment.p_type != PT_NOTE || segment.p_filesz > sizeof notes) continue;
      const auto size = static_cast<std::size_t>(segment.p_filesz);
      if (read(segment.p_offset, notes, size) && take_build_id({notes, size}, own))
        return own.build_id_size == identity.build_id_size &&
               std::memcmp(own.build_id, identity.build_id, own.build_id_size) == 0;
    }
    return false;
  }

  // Where in the file an address of its symbols is; false: in no code of it.
  bool offset_of(std::uint64_t address, std::uint64_t& offset) const noexcept {
    for (const Elf64_Phdr& segment : segments.all()) {
      const bool is_there = segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0 &&
                            address - segment.p_vaddr < segment.p_filesz;
      if (!is_there) continue;
      offset = address - segment.p_vaddr + segment.p_offset;
      return true;
    }
    return false;
  }

  const int descriptor;
  Elf64_Ehdr header{};
  GrowingArray<Elf64_Phdr> segments;
};

bool SymbolTable::read(const char* path, const FileIdentity& identity) noexcept {
  File file(path);
  if (!file.open() || !file.is(identity) || !read_sections(file)) return false;
  std::ranges::sort(symbols_.all(), [](const Symbol& a, const Symbol& b) {
    return a.offset != b.offset ? a.offset < b.offset : a.rank < b.rank;
  });
  return true;
}

bool SymbolTable::read_sections(const File& file) noexcept {
  Elf64_Shdr symbols{};
  for (std::uint32_t i = 0; i < file.header.e_shnum && i < kMostSections; ++i) {
    Elf64_Shdr section;
    if (!file.read(file.header.e_shoff + i * sizeof section, &section, sizeof section)) return false;
    if (section.sh_type == SHT_DYNSYM && symbols.sh_type == SHT_NULL) symbols = section;
    if (section.sh_type == SHT_SYMTAB) symbols = section;
  }
  Elf64_Shdr names{};
  const bool has_names =
      symbols.sh_type != SHT_NULL && symbols.sh_link < file.header.e_shnum &&
      file.read(file.header.e_shoff + symbols.sh_link * sizeof names, &names, sizeof names) &&
      names.sh_type == SHT_STRTAB && names.sh_size != 0 && names.sh_size <= kMostNameBytes;
  if (!has_names || !names_.grow_to(static_cast<std::size_t>(names.sh_size) + 1, '\0')) return false;
  if (!file.read(names.sh_offset, names_.data(), static_cast<std::size_t>(names.sh_size))) return false;
  return read_symbols(file, symbols.sh_offset, symbols.sh_size / sizeof(Elf64_Sym));
}

bool SymbolTable::read_symbols(const File& file, std::uint64_t at, std::uint64_t count) noexcept {
  constexpr std::size_t kAtOnce = 128;
  count = std::min(count, kMostSymbols);
  for (std::uint64_t i = 0; i < count; i += kAtOnce) {
    Elf64_Sym part[kAtOnce];
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(kAtOnce, count - i));
    if (!file.read(at + i * sizeof(Elf64_Sym), part, size * sizeof(Elf64_Sym))) return false;
    for (const Elf64_Sym& symbol : std::span(part, size)) {
      if (symbol.st_shndx == SHN_UNDEF && symbol.st_name + std::size_t{1} < names_.size())
        calls_hooks_ |= is_hook(names_.data() + symbol.st_name);
      std::uint64_t offset = 0;
      const bool is_wanted = is_function(symbol) && symbol.st_name + std::size_t{1} < names_.size() &&
                             names_[symbol.st_name] != '\0' && file.offset_of(symbol.st_value, offset);
      if (!is_wanted) continue;
      const auto length = static_cast<std::uint32_t>(std::min<std::uint64_t>(symbol.st_size, UINT32_MAX));
      if (!symbols_.push({offset, length, symbol.st_name, rank_of(symbol)})) return false;
    }
  }
  return true;
}

// A function may have a smaller one inside itself, as assembly does. One of unknown size reaches to the next.
NamedRange SymbolTable::find(std::uint64_t file_offset) const noexcept {
  const auto all = symbols_.all();
  auto at = std::ranges::upper_bound(all, file_offset, {}, &Symbol::offset);
  const Symbol* found = nullptr;
  bool is_nearest = true;
  for (std::size_t looks = 0; at != all.begin() && looks < kMostAtOnePlace; ++looks) {
    const Symbol& symbol = *--at;
    if (found != nullptr && symbol.offset != found->offset) break;
    if (file_offset - symbol.offset < symbol.size || (symbol.size == 0 && is_nearest)) found = &symbol;
    is_nearest = false;
  }
  if (found == nullptr) return {};
  return {found->offset, found->size, names_.data() + found->name};
}

}  // namespace jitquill::drain
