// The functions that an ELF file names: `.symtab`, or `.dynsym` where the file was stripped.
//
// Not by libelf: the plugin that has it may use the host's allocator, and the drain must not.
//
// Context   [drain]; `jitquill recover`. Raw system calls; allocates by nothrow operator new.
// Promises  nothing in the file is trusted. A file that is not the one that was mapped (its build-id differs,
//           or its inode where there is none) has no names.
// Does not  demangle, nor look for separate debug files.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "writer/bytes/growing_array.hpp"

namespace jitquill::drain {

inline constexpr std::size_t kMostBuildId = 32;

// What tells a file from another one at its path.
struct FileIdentity {
  std::uint8_t build_id[kMostBuildId] = {};
  std::uint8_t build_id_size = 0;  // 0 = it has none
  std::uint64_t inode = 0;
};

// The build-id among notes; false: there is none.
bool take_build_id(std::span<const std::uint8_t> notes, FileIdentity& to) noexcept;

struct NamedRange {
  std::uint64_t offset = 0;  // in the file
  std::uint64_t size = 0;    // 0 = unknown
  std::string_view name;     // empty = nothing is named there; valid while the table lives
};

class SymbolTable {
 public:
  SymbolTable() noexcept = default;
  SymbolTable(const SymbolTable&) = delete;
  SymbolTable& operator=(const SymbolTable&) = delete;

  // Of the file at `path` if it is that one. False: no names.
  bool read(const char* path, const FileIdentity& identity) noexcept;
  NamedRange find(std::uint64_t file_offset) const noexcept;
  // Whether its functions call what compilers have them call for profilers.
  bool calls_hooks() const noexcept { return calls_hooks_; }
  // see(NamedRange) of each, upwards; a size that is unknown reaches to the next.
  template <class See>
  void for_each(See see) const noexcept {
    const auto all = symbols_.all();
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::uint64_t to_next = i + 1 < all.size() ? all[i + 1].offset - all[i].offset : 0;
      const std::uint64_t size = all[i].size != 0 ? all[i].size : to_next;
      see(NamedRange{all[i].offset, size, std::string_view(names_.data() + all[i].name)});
    }
  }

 private:
  struct Symbol {
    std::uint64_t offset;  // in the file
    std::uint32_t size;
    std::uint32_t name;  // offset in names_
    std::uint32_t rank;  // 0 is the best of several at one place
  };
  struct File;

  bool read_sections(const File& file) noexcept;
  bool read_symbols(const File& file, std::uint64_t at, std::uint64_t count) noexcept;

  GrowingArray<Symbol> symbols_;  // by offset, then rank
  GrowingArray<char> names_;      // the string table, a NUL at its end
  bool calls_hooks_ = false;
};

}  // namespace jitquill::drain
