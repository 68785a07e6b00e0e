// Takes the blob of a CODE_UNWINDING_INFO record apart: .eh_frame, then .eh_frame_hdr, as perf maps them.
//
// Where the pieces are taken to lie, counted from the function's first byte (C bytes of code):
//   [code, C] [pad to 8] [.eh_frame, E bytes] [.eh_frame_hdr, H bytes]
//
// A function may have a twin: the same ELF mapped a second time, below the code and with the tables, where no
// code runs. Then there are two FDEs: of the code at its place, and of the code as it lies behind the twin.
//
// Context   tests and tools.
// Promises  reads every byte of the blob: a byte that no rule explains is a violation.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/readers/jitdump/cfi_program.hpp"
#include "tests/readers/jitdump/cursor.hpp"
#include "tests/readers/jitdump/violation.hpp"

namespace jitdump_reader {

struct Unwinding {
  std::uint64_t size = 0;       // U: both sections
  std::uint64_t hdr_size = 0;   // H
  std::uint64_t mapped = 0;     // M: address space behind the code that perf maps them to
  bool frame_pointers = false;  // the stub that has a header and no .eh_frame: "use frame pointers"
  std::vector<FrameRow> rows;   // ascending
  // From the twin to the code, if the tables describe the code as seen from a twin too; 0 = they do not.
  std::uint64_t twin_distance = 0;
};

// The frame at a pc (bytes from the function's start); null if no row covers it.
const FrameRow* row_at(const Unwinding& unwinding, std::uint64_t pc);

// Where the fields of the record that say sizes lie in the file.
struct UnwindingFields {
  std::uint64_t size_at = 0;
  std::uint64_t hdr_size_at = 0;
  std::uint64_t mapped_at = 0;
};

// `blob` holds exactly U bytes; `unwinding` has U, H and M set and gets the rest.
void parse_unwinding(Cursor blob, std::uint64_t code_size, const UnwindingFields& fields,
                     Unwinding& unwinding, Violations& found);

}  // namespace jitdump_reader
