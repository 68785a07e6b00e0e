#include "agent/intake/symfile/line_table.hpp"

#include <algorithm>
#include <csetjmp>

#include "agent/intake/symfile/debug_copy.hpp"

namespace jitquill::symfile {
namespace {

// libdw calls this instead of exit(); it may not return. Under the intakes' lock there is one reading a time.
std::jmp_buf g_out_of_memory;

[[gnu::noreturn]] void leave_libdw() {  // gnu: a part of its type, which clang wants
  std::longjmp(g_out_of_memory, 1);
}

// Where libdw reads: no object with a destructor is in any frame between here and leave_libdw().
struct Unit {
  Dwarf_Off next = 0;
  Dwarf_CU* unit = nullptr;
  Dwarf_Files* files = nullptr;
  std::size_t file_count = 0;
  Dwarf_Lines* lines = nullptr;
  std::size_t line_count = 0;
};

int next_lines(Dwarf* dwarf, Unit& at) {
  if (setjmp(g_out_of_memory) != 0) return -1;
  return dwarf_next_lines(dwarf, at.next, &at.next, &at.unit, &at.files, &at.file_count, &at.lines,
                          &at.line_count);
}

struct RawRow {
  Dwarf_Addr address = 0;
  int line = 0;
  int column = 0;
  bool ends = false;
  const char* file = nullptr;
};

bool read_row(Dwarf_Lines* lines, std::size_t i, RawRow& row) {
  if (setjmp(g_out_of_memory) != 0) return false;
  Dwarf_Line* const line = dwarf_onesrcline(lines, i);
  if (line == nullptr || dwarf_lineaddr(line, &row.address) != 0) return false;
  (void)dwarf_lineno(line, &row.line);
  (void)dwarf_linecol(line, &row.column);
  (void)dwarf_lineendsequence(line, &row.ends);
  row.file = dwarf_linesrc(line, nullptr, nullptr);
  return true;
}

std::uint32_t positive(int value) noexcept {
  return value > 0 ? static_cast<std::uint32_t>(value) : 0;
}

}  // namespace

LineTable::LineTable(const ElfImage& image) : file_(debug_copy(image)) {
  if (file_.empty() || elf_version(EV_CURRENT) == EV_NONE) return;
  elf_ = elf_memory(reinterpret_cast<char*>(file_.data()), file_.size());
  if (elf_ == nullptr) return;
  dwarf_ = dwarf_begin_elf(elf_, DWARF_C_READ, nullptr);
  if (dwarf_ == nullptr) return;
  (void)dwarf_new_oom_handler(dwarf_, leave_libdw);
  read();
}

LineTable::~LineTable() {
  if (dwarf_ != nullptr) dwarf_end(dwarf_);
  if (elf_ != nullptr) elf_end(elf_);
}

void LineTable::read() {
  Unit at;
  for (Dwarf_Off before = 0;; before = at.next) {
    const int result = next_lines(dwarf_, at);
    if (result > 0 || at.next <= before) break;  // the end; or broken so that what follows is not found
    if (result == 0) add(at.lines, at.line_count);
  }
  std::stable_sort(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) {
    if (a.address != b.address) return a.address < b.address;
    return a.file == nullptr && b.file != nullptr;
  });
}

void LineTable::add(Dwarf_Lines* lines, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    RawRow row;
    if (!read_row(lines, i, row)) continue;
    rows_.push_back({row.address, positive(row.line), positive(row.column), row.ends ? nullptr : row.file});
  }
}

std::span<const Line> LineTable::of(const ElfFunction& function) {
  lines_.clear();
  auto row =
      std::upper_bound(rows_.begin(), rows_.end(), function.address,
                       [](std::uint64_t address, const Row& other) { return address < other.address; });
  while (row != rows_.begin() && std::prev(row)->address == function.address) --row;
  // The row in front of the function covers its first bytes if nothing begins or ends there.
  const bool begins_here = row != rows_.end() && row->address == function.address;
  if (!begins_here && row != rows_.begin()) --row;
  for (; row != rows_.end(); ++row) {
    if (row->address > function.address && row->address - function.address >= function.size) break;
    if (row->file == nullptr) continue;
    const std::uint64_t offset = row->address > function.address ? row->address - function.address : 0;
    if (offset > kMaxCodeSize) break;
    lines_.push_back({static_cast<std::uint32_t>(offset), row->line, row->column, row->file});
  }
  return lines_;
}

}  // namespace jitquill::symfile
