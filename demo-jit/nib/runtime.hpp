// What jitted code leans on while it runs: output, run-time errors, the limit of the stack.
//
// Context   run() on any thread, on several at once; the functions below it only from jitted code inside
// run(). Promises  a run-time error ends the run and nothing else: run() returns it. Jitted frames are left
// by
//           longjmp, so they need no unwind information and must own nothing.
// Does not  catch a signal, or change a limit of the process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "nib/source.hpp"

namespace nib {

enum class Fault : std::uint8_t { kDivisionByZero, kStackOverflow };

// A place in the program where a run-time error can arise; lives as long as the code.
struct FaultSite {
  Fault fault;
  Position at;
  std::string_view function;
};

// Receives whole lines.
using Output = std::function<void(std::string_view)>;

struct RunResult {
  std::optional<Diagnostic> error;
  // CLOCK_MONOTONIC, directly before and after the jitted call.
  std::uint64_t start_ns = 0;
  std::uint64_t end_ns = 0;
};

RunResult run(void (*entry)(), const Output& output);

// ---- For the lowering ----

// Jitted code checks at entry that rsp is not below the word at %fs:stack_limit_offset(). Below the limit
// there is room for one frame of kMaxFrameSize and for the functions here.
inline constexpr std::size_t kStackReserve = std::size_t{256} * 1024;
inline constexpr std::size_t kMaxFrameSize = std::size_t{64} * 1024;
std::int32_t stack_limit_offset() noexcept;

extern "C" {
void nib_print_int(std::int64_t value);
void nib_print_bool(std::int64_t value);
[[noreturn]] void nib_fail(const FaultSite* site);
}

}  // namespace nib
