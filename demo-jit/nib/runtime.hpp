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
#include "nib/tier.hpp"

namespace nib {

enum class Fault : std::uint8_t {
#define FAULT(name, text) name,
#include "nib/fault.def"
#undef FAULT
};

// A place in the program where a run-time error can arise; lives as long as the code.
struct FaultSite {
  Fault fault;
  Position at;
  std::string_view function;
  std::string_view text;  // of kFailed; kNull: the field; kNoThread: what is spawned
  // What was made here, if the run counts it; by several threads.
  alignas(8) mutable std::uint64_t made_objects = 0;
  mutable std::uint64_t made_bytes = 0;
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

// `code` maps the trace; null: there will be none. `workers`: threads that run what `par` makes, that of main
// included. Ends when all threads of the program have ended.
RunResult run(void (*entry)(), const Output& output, const CodeTable* code = nullptr,
              const HeapOptions& heap = {}, std::size_t workers = 1);

// ---- For the lowering ----

// ThreadWords lie at %fs:thread_words_offset(). Below their stack limit there is room for one frame of
// kMaxFrameSize and for the functions here.
inline constexpr std::size_t kStackReserve = std::size_t{256} * 1024;
inline constexpr std::size_t kMaxFrameSize = std::size_t{64} * 1024;
std::int32_t thread_words_offset() noexcept;

// Calls a function with `arguments` and keeps what it gives.
using SpawnCode = void(const std::int64_t* arguments, std::int64_t* result);

// Of the current run; the elements are not set. Fails at `site`.
Array* new_array(const FaultSite& site, Kind kind, std::int64_t length);
[[noreturn]] void fail(const FaultSite& site, Fault kind, std::int64_t first, std::int64_t second);
// What the point asks for; null where the other tier may as well go on.
void* code_at(const CodePoint& point);

extern "C" {
// rsp is below the limit: the stack is full, which is a fault at `site` (null: it cannot be), or the thread
// is to stop.
// A call keeps all general and xmm registers.
void nib_poll_keeping_registers(const FaultSite* site);
// ThreadWords::target is where to go on, null: here. Keeps all registers, too.
void nib_transfer_keeping_registers(const CodePoint* point);
// What calls of functions lead to that have no code: eax their index, r10 the Executable.
void nib_enter_missing();
void nib_print_int(std::int64_t value);
void nib_print_bool(std::int64_t value);
void nib_print_float(double value);
void nib_print_str(const Array* value);
void nib_marker(const Array* text);
void nib_message(const Array* text);

// What is made fails at `site` when there is no memory, or when it cannot be; a `kind` is a Kind.
Array* nib_new_array(const FaultSite* site, std::int64_t length, std::int64_t value, std::int64_t kind);
Array* nib_new_floats(const FaultSite* site, std::int64_t length, double value);
// `header` is the Object; the fields are not set.
Object* nib_new_record(const FaultSite* site, std::int64_t header);
Array* nib_concatenate(const FaultSite* site, const Array* left, const Array* right);
Array* nib_slice(const FaultSite* site, const Array* str, std::int64_t from, std::int64_t to);
Array* nib_chr(const FaultSite* site, std::int64_t byte);
Array* nib_str_of_int(const FaultSite* site, std::int64_t value);
Array* nib_str_of_bool(const FaultSite* site, std::int64_t value);
Array* nib_str_of_float(const FaultSite* site, double value);
Array* nib_fixed(const FaultSite* site, double value, std::int64_t digits);
// Below, equal to or above 0, by bytes.
std::int64_t nib_compare(const Array* left, const Array* right);

// `shape`: the number of arguments; 1 << 8 if the result is a reference; 1 << 9 if it is a spark; 1 << (16 +
// i) if argument i is a reference.
Task* nib_spawn(const FaultSite* site, const CodePoint* code, const std::int64_t* arguments,
                std::int64_t shape);
std::int64_t nib_join(const FaultSite* site, Task* task);
Channel* nib_new_channel(const FaultSite* site, std::int64_t capacity, std::int64_t has_references);
void nib_send(const FaultSite* site, Channel* channel, std::int64_t value);
std::int64_t nib_receive(const FaultSite* site, Channel* channel);

[[noreturn]] void nib_fail(const FaultSite* site);
// `first` and `second` stand in the text of the fault (fault.def).
[[noreturn]] void nib_fail_with(const FaultSite* site, std::int64_t first, std::int64_t second);
}

}  // namespace nib
