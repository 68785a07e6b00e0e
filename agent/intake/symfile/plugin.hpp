// What libjitquill-symfile.so does for the agent: reads symbol files that a JIT keeps in memory for
// debuggers, and machine code in front of a patch. A library of its own, since it needs libelf, libdw and
// Zydis.
//
// Context   [notify], under the intakes' lock, never under the leaf lock: it allocates from the host.
// Promises  nothing in the bytes it is handed is trusted: what is broken is left out. No exception, exit or
//           abort comes out. Keeps nothing between calls.
// Does not  read memory that its arguments do not span.
#pragma once

#include <cstdint>

#include "writer/model/code.hpp"

namespace jitquill::symfile {

// The name of the table changes with anything but new members at the end.
inline constexpr char kTableName[] = "jitquill_symfile_v1";
inline constexpr char kFileName[] = "libjitquill-symfile.so";

struct Section {
  std::uint64_t address;        // where it runs or is read; 0 = it was not loaded
  std::uint64_t size;           // bytes there
  const std::uint8_t* content;  // as it lies in the symbol file; null = it has none there
  bool is_code;
  bool is_eh_frame;
  bool has_relocations;  // so that bytes equal to `content` are not final yet
};

struct Function {
  std::uint64_t address;
  std::uint64_t size;
  const char* name;  // of name_size bytes
  std::uint64_t name_size;
  const Line* lines;  // offsets ascend; with files
  std::uint64_t line_count;
};

// Of the code at a function's entry.
struct EntryCode {
  std::uint32_t room;          // bytes from the entry on that can be overwritten; 0 = it does something
  std::uint32_t instructions;  // up to its return
};

struct Plugin {
  std::uint32_t struct_size;
  std::uint32_t reserved;
  // Calls see(to, section) for each section of a 64-bit x86 ELF file in memory. 0: it is none.
  int (*sections)(const std::uint8_t* bytes, std::uint64_t size,
                  void (*see)(void* to, const Section* section), void* to);
  // Calls see(to, function) for each, by ascending address; they never overlap. 0: as above.
  int (*functions)(const std::uint8_t* bytes, std::uint64_t size,
                   void (*see)(void* to, const Function* function), void* to);
  // `size` bytes from an entry on that is aligned to 16.
  EntryCode (*read_entry)(const std::uint8_t* code, std::uint64_t size);
};

}  // namespace jitquill::symfile

extern "C" [[gnu::visibility("default")]] const jitquill::symfile::Plugin jitquill_symfile_v1;
