#include "agent/intake/file_symbols.hpp"

#include <elf.h>
#include <fcntl.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "agent/base/safe_copy.hpp"
#include "agent/intake/memory.hpp"
#include "writer/bytes/raw_calls.hpp"

namespace jitquill::intake {
namespace {

constexpr std::size_t kRoom = 64 * 1024;
constexpr std::uint64_t kMostNameBytes = std::uint64_t{256} << 20;
constexpr std::uint64_t kMostNoteBytes = 4096;
constexpr std::uint32_t kMostSections = 65'279;

class File {
 public:
  explicit File(const char* path) noexcept
      : descriptor_(raw::open_at(AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0u)) {}
  ~File() {
    if (descriptor_ >= 0) raw::close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  bool read(std::uint64_t at, void* to, std::size_t size) const noexcept {
    return descriptor_ >= 0 && raw::call(SYS_pread64, descriptor_, to, size, at) == static_cast<long>(size);
  }
  template <class T>
  std::optional<T> read(std::uint64_t at) const noexcept {
    T value;
    return read(at, &value, sizeof value) ? std::optional(value) : std::nullopt;
  }

 private:
  int descriptor_;
};

struct Places {
  static constexpr std::size_t kMost = 8;
  std::uint64_t at[kMost];
  std::size_t count = 0;

  void add(std::uint64_t place) noexcept {
    if (count < kMost) at[count++] = place;
  }
  bool has(std::uint64_t place) const noexcept { return std::find(at, at + count, place) != at + count; }
};

class SymbolTable {
 public:
  SymbolTable(const ElfObject& object, const File& file) noexcept : object_(object), file_(file) {}

  // Whether this is the object's file, and has a table.
  bool open() noexcept {
    const auto header = file_.read<Elf64_Ehdr>(0);
    if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_shentsize != sizeof(Elf64_Shdr))
      return false;
    header_ = *header;
    return find_sections() && is_the_objects();
  }

  bool find(std::span<FileSymbol> symbols) noexcept {
    Block room(kRoom);
    if (!room) return false;
    return std::all_of(symbols.begin(), symbols.end(), [&](FileSymbol& symbol) {
      const Places places = find_name(symbol.name, room);
      return places.count != 0 && find_symbol(places, symbol, room);
    });
  }

 private:
  std::optional<Elf64_Shdr> section(std::uint32_t index) const noexcept {
    if (index >= header_.e_shnum) return std::nullopt;
    return file_.read<Elf64_Shdr>(header_.e_shoff + std::uint64_t{index} * sizeof(Elf64_Shdr));
  }

  bool find_sections() noexcept {
    for (std::uint32_t i = 0; i < header_.e_shnum && i < kMostSections; ++i) {
      const auto symbols = section(i);
      if (!symbols) return false;
      if (symbols->sh_type != SHT_SYMTAB) continue;
      const auto names = section(symbols->sh_link);
      if (!names || names->sh_type != SHT_STRTAB || names->sh_size > kMostNameBytes) return false;
      symbols_ = *symbols;
      names_ = *names;
      return true;
    }
    return false;
  }

  bool is_the_objects() const noexcept {
    const auto segments = object_.segments();
    if (header_.e_phnum != segments.size()) return false;
    for (std::size_t i = 0; i < segments.size(); ++i) {
      const auto segment = file_.read<Elf64_Phdr>(header_.e_phoff + i * sizeof(Elf64_Phdr));
      if (!segment || std::memcmp(&*segment, &segments[i], sizeof *segment) != 0) return false;
      if (segment->p_type == PT_NOTE && !has_note(*segment)) return false;
    }
    return true;
  }

  bool has_note(const Elf64_Phdr& note) const noexcept {
    if (note.p_filesz > kMostNoteBytes) return false;
    const auto size = static_cast<std::size_t>(note.p_filesz);
    Block in_file(size);
    Block in_memory(size);
    const auto* const from = reinterpret_cast<const std::uint8_t*>(object_.base() + note.p_vaddr);
    return in_file && in_memory && file_.read(note.p_offset, in_file.data(), size) &&
           safe_copy({from, size}, in_memory.data(), 0) &&
           std::memcmp(in_file.data(), in_memory.data(), size) == 0;
  }

  // Where it lies among the names, all of which end with a NUL. Several times if it is the end of longer
  // ones, some of which the linker may have made it share.
  Places find_name(const char* name, Block& room) const noexcept {
    const std::size_t size = std::strlen(name) + 1;
    Places places;
    for (std::uint64_t at = 0; at + size <= names_.sh_size; at += kRoom - size + 1) {
      const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(kRoom, names_.sh_size - at));
      if (!file_.read(names_.sh_offset + at, room.data(), part)) break;
      const std::uint8_t* from = room.data();
      const std::uint8_t* const end = from + part;
      while (const void* const found = memmem(from, static_cast<std::size_t>(end - from), name, size)) {
        from = static_cast<const std::uint8_t*>(found) + 1;
        places.add(at + static_cast<std::uint64_t>(from - 1 - room.data()));
      }
    }
    return places;
  }

  bool find_symbol(const Places& names, FileSymbol& to, Block& room) const noexcept {
    constexpr std::uint64_t kAtOnce = kRoom / sizeof(Elf64_Sym);
    const std::uint64_t count = symbols_.sh_size / sizeof(Elf64_Sym);
    for (std::uint64_t at = 0; at < count; at += kAtOnce) {
      const std::uint64_t part = std::min(kAtOnce, count - at);
      if (!file_.read(symbols_.sh_offset + at * sizeof(Elf64_Sym), room.data(), part * sizeof(Elf64_Sym)))
        return false;
      for (std::uint64_t i = 0; i < part; ++i) {
        Elf64_Sym symbol;
        std::memcpy(&symbol, room.data() + i * sizeof symbol, sizeof symbol);
        if (!names.has(symbol.st_name) || symbol.st_shndx == SHN_UNDEF) continue;
        to.address = object_.base() + symbol.st_value;
        return object_.contains(to.address);
      }
    }
    return false;
  }

  const ElfObject& object_;
  const File& file_;
  Elf64_Ehdr header_{};
  Elf64_Shdr symbols_{};
  Elf64_Shdr names_{};
};

}  // namespace

bool find_in_file(const ElfObject& object, std::span<FileSymbol> symbols) noexcept {
  const bool is_program = object.path()[0] == '\0';
  const File file(is_program ? "/proc/self/exe" : object.path());
  SymbolTable table(object, file);
  return table.open() && table.find(symbols);
}

}  // namespace jitquill::intake
