// The line tables of a symbol file, read by libdw (DWARF 2 to 5), and cut into functions.
//
// Context   the plugin. Throws std::bad_alloc.
// Promises  libdw's way to run out of memory, which is to end the process, ends only the reading.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <span>
#include <vector>

#include "agent/intake/symfile/elf_image.hpp"
#include "writer/model/code.hpp"

namespace jitquill::symfile {

class LineTable {
 public:
  explicit LineTable(const ElfImage& image);
  ~LineTable();
  LineTable(const LineTable&) = delete;
  LineTable& operator=(const LineTable&) = delete;

  // Valid until the next call, their files as long as this lives.
  std::span<const Line> of(const ElfFunction& function);

 private:
  struct Row {
    std::uint64_t address;
    std::uint32_t line;
    std::uint32_t column;
    const char* file;  // null: the code of the last row ends here
  };

  void read();
  void add(Dwarf_Lines* lines, std::size_t count);

  std::vector<std::uint8_t> file_;
  Elf* elf_ = nullptr;
  Dwarf* dwarf_ = nullptr;
  std::vector<Row> rows_;  // by address; at one address ends first, then in the program's order
  std::vector<Line> lines_;
};

}  // namespace jitquill::symfile
