// What jitted code leans on while it runs: output, arrays, run-time errors, the limit of the stack.
//
// Context   run() on any thread, on several at once; the functions below it only from jitted code inside
//           run().
// Promises  a run-time error ends the run and nothing else: run() returns it, with the calls that led to it
//           where they can be walked. Jitted frames are left by longjmp, so an error needs no unwind
//           information; what `output` throws passes through them only if they are registered
//           (docs/unwinders.md).
// Does not  catch a signal, or change a limit of the process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "nib/heap.hpp"
#include "nib/source.hpp"
#include "nib/stack_trace.hpp"

namespace nib {

enum class Fault : std::uint8_t { kDivisionByZero, kOverflow, kIndex, kNoArray, kStackOverflow, kFailed };

// A place in the program where a run-time error can arise; lives as long as the code.
struct FaultSite {
  Fault fault;
  Position at;
  std::string_view function;
  std::string_view text;  // of kFailed
};

// Receives whole lines.
using Output = std::function<void(std::string_view)>;

struct RunResult {
  std::optional<Diagnostic> error;
  StackTrace trace;  // of the error
  // CLOCK_MONOTONIC, directly before and after the jitted call.
  std::uint64_t start_ns = 0;
  std::uint64_t end_ns = 0;
};

// `code` maps the trace; null: there will be none. `heap_limit` is in bytes.
RunResult run(void (*entry)(), const Output& output, const CodeTable* code = nullptr,
              std::size_t heap_limit = Heap::kDefaultLimit);

// ---- For the lowering ----

// Jitted code checks at entry that rsp is not below the word at %fs:stack_limit_offset(). Below the limit
// there is room for one frame of kMaxFrameSize and for the functions here.
inline constexpr std::size_t kStackReserve = std::size_t{256} * 1024;
inline constexpr std::size_t kMaxFrameSize = std::size_t{64} * 1024;
std::int32_t stack_limit_offset() noexcept;

extern "C" {
void nib_print_int(std::int64_t value);
void nib_print_bool(std::int64_t value);
// All elements are `value`, of 1 or 8 bytes; fails at `site`, a kNoArray.
Array* nib_new_array(const FaultSite* site, std::int64_t length, std::int64_t value,
                     std::int64_t element_size);
[[noreturn]] void nib_fail(const FaultSite* site);
// kIndex: the index and the length. kNoArray: the length and the largest that there can be.
[[noreturn]] void nib_fail_with(const FaultSite* site, std::int64_t first, std::int64_t second);
}

}  // namespace nib
