// Code news as every sink is handed it: what was loaded where, under which name, from which lines, and what
// its frame looks like at each instruction.
//
// Context   any; plain values.
// Does not  own anything: the spans and views live as long as the call that hands them on.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "writer/model/unwinding.hpp"

namespace jitquill {

// perf keeps sizes of code in a signed 32-bit int, and so do distances inside unwinding tables.
inline constexpr std::uint64_t kMaxCodeSize = 0x7FFFFFFF;

// A stretch of code from `offset` to the next row's offset comes from this place in the source.
// Laid out as jitquill_line (padding for its reserved member), and allowed to alias it: a runtime's rows are
// read where they lie.
struct [[gnu::may_alias]] Line {
  std::uint32_t offset;  // bytes from the start of the code
  std::uint32_t line;    // 1-based; 0 = unknown
  std::uint32_t column;  // 1-based; 0 = unknown
  const char* file;      // NUL-terminated; null = CodeLoad::file
};

// A place in the source of one function's body, and the call that was inlined there. Laid out as
// jitquill_inline_position, and allowed to alias it.
struct [[gnu::may_alias]] InlinePosition {
  std::int32_t caller;  // index of the call's position, -1 in the outermost function
  std::uint32_t line;   // 1-based; 0 = unknown, as all of these
  std::uint32_t column;
  std::uint32_t function_line;
  std::uint32_t function_column;
  std::uint32_t reserved;  // 0
  const char* function;
  const char* file;
};

// The code from `offset` to the next row's offset comes from that position. As jitquill_inline_row.
struct [[gnu::may_alias]] InlineRow {
  std::uint32_t offset;
  std::uint32_t position;
};

struct Inlining {
  std::span<const InlinePosition> positions;
  std::span<const InlineRow> rows;  // offsets ascend and lie inside the code; empty = unknown
};

// Bytes in a function that are switched to call a hook of the agent, or not to. Laid out as jitquill_site,
// and allowed to alias it.
struct [[gnu::may_alias]] Site {
  std::uint32_t offset;
  std::uint8_t kind;
  std::uint8_t reserved[3];  // 0
};

// Hands out address space in which a function may seem to lie a second time (docs/jitdump.md, "Packed code").
class TwinPlaces {
 public:
  // `size` bytes that nothing else uses, below the code and within 2 GiB of it; 0 if there are none.
  virtual std::uint64_t take(std::uint64_t code_address, std::uint64_t size) noexcept = 0;

 protected:
  ~TwinPlaces() = default;
};

// A function's code, or a stub's, from now on at `address`.
struct CodeLoad {
  std::uint64_t id = 0;          // unique in the process, from 1, never reused
  std::uint64_t index = 0;       // unique among announcements: a function that moves is announced again
  std::uint64_t when_ns = 0;     // CLOCK_MONOTONIC, after the code became final
  std::uint64_t since_ns = 0;    // what when_ns becomes, of code that was heard of late; 0 = it came just now
  std::uint64_t address = 0;     // where it runs
  std::uint64_t moved_from = 0;  // where it ran until now; 0 = it is new
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;  // the kernel's number of the announcing thread
  std::span<const std::uint8_t> bytes;
  std::string_view name;
  const char* file = nullptr;   // NUL-terminated; of the lines without their own
  std::span<const Line> lines;  // offsets ascend and lie inside the code; empty = unknown
  Inlining inlining;
  Unwinding unwinding;
  std::span<const Site> sites;       // offsets ascend; no sink looks at them
  std::uint8_t* writable = nullptr;  // where the code is written as long as it lives; null = nowhere
  bool may_fault = false;            // the bytes may be unreadable
  bool is_overheard = false;         // its runtime told somebody else, perhaps several times
  bool is_stopgap = false;           // nobody named it: only if nothing else is known of this memory
  bool may_move = false;             // it is to be remembered for a move
  bool registers_unwinding = false;  // with the host's own unwinder
  std::uint32_t room = 0;            // bytes behind the code that no other code will occupy while it lives
  TwinPlaces* twins = nullptr;       // asked where that is too little; null = do without
};

// A place where code can be: not empty, not beyond what formats can say, in the address space.
constexpr bool is_placeable(std::uint64_t address, std::uint64_t size) noexcept {
  return size != 0 && size <= kMaxCodeSize && address + size > address;
}

// The code with this id now runs at `to`, where it has been copied.
struct CodeMove {
  std::uint64_t id = 0;
  std::uint64_t index = 0;  // of the announcement that it refers to
  std::uint64_t when_ns = 0;
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  std::uint64_t size = 0;
  std::string_view name = {};
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;
  Unwinding unwinding;
  std::uint32_t room = 0;            // behind the code's new place
  std::uint8_t* writable = nullptr;  // as CodeLoad::writable, there
  bool is_overheard = false;
};

// The code that started at `address` may be overwritten from now on.
struct CodeUnload {
  std::uint64_t id = 0;
  std::uint64_t when_ns = 0;
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  bool is_overheard = false;
};

// The process that the news is of: written into file headers.
struct Origin {
  std::uint32_t pid = 0;
  std::uint64_t start_ns = 0;  // CLOCK_MONOTONIC when the output was opened; unique per output of a process
  bool counts_ticks = false;   // all when_ns are the CPU's counter instead (arch_clock=1)
  std::uint32_t parent_pid = 0;
  bool is_forked = false;           // from a process that had this library, without an exec
  std::uint64_t unix_ns = 0;        // start_ns on the wall clock
  std::uint32_t processors = 0;     // that it may run on; 0 = unknown
  std::string_view arguments = {};  // of the program, a NUL behind each; empty = unknown
  std::string_view options = {};    // that the user gave, key=value, a NUL behind each
};

}  // namespace jitquill
