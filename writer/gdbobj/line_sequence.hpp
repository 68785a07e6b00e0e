// The line table of one function as a sequence of DWARF's line program, ready to be put into any table.
//
// A file's number differs from table to table, so the program has no DW_LNS_set_file: where the file changes
// is kept beside it.
//
// Context   any one thread; puts into the caller's buffers.
#pragma once

#include <cstdint>
#include <span>

#include "writer/bytes/bytes.hpp"
#include "writer/gdbobj/files.hpp"
#include "writer/model/code.hpp"
#include "writer/model/status.hpp"

namespace jitquill::gdbobj {

// Behind `at` bytes of the program, rows come from `file`.
struct FileChange {
  std::uint32_t at;
  std::uint32_t file;  // Files::intern()
};

// Where the program has the code's address (8 bytes): it begins with DW_LNE_set_address.
inline constexpr std::size_t kSequenceAddressAt = 3;

// Puts program and changes, from the start of empty buffers. kLinesLeftOut: see has_usable_lines(). kNoMemory
// only for want of a file's name; the buffers tell of their own. No lines: nothing is put.
Status put_sequence(Bytes& program, Bytes& changes, const CodeLoad& load, Files& files) noexcept;

// The part of a table in front of its sequences. Every file of them has a number by now. The table's length,
// its first field, is left 0: whoever puts the last sequence patches it.
void put_table_head(Bytes& out, const Files& files) noexcept;

void put_numbered(Bytes& out, std::span<const std::uint8_t> program, std::span<const FileChange> changes,
                  Files& files) noexcept;

}  // namespace jitquill::gdbobj
