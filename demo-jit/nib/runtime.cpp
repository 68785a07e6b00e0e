#include "nib/runtime.hpp"

#include <pthread.h>
#include <setjmp.h>

#include <algorithm>
#include <bit>
#include <ctime>
#include <string>

#include "nib/str.hpp"

namespace nib {
namespace {

// One run on one thread.
struct Run {
  const Output& output;
  const CodeTable* code;
  Heap heap;
  RunResult result;
  const FaultSite* fault = nullptr;
  Fault kind{};            // of `fault`, or kNoMemory
  std::int64_t first = 0;  // as in nib_fail_with()
  std::int64_t second = 0;
  jmp_buf leave{};
};

thread_local Run* current_run = nullptr;

// Also when `output` throws.
class CurrentRun {
 public:
  explicit CurrentRun(Run& run) noexcept : outer_(current_run) { current_run = &run; }
  ~CurrentRun() { current_run = outer_; }
  CurrentRun(const CurrentRun&) = delete;
  CurrentRun& operator=(const CurrentRun&) = delete;

 private:
  Run* outer_;
};

// Jitted code reads it at a constant distance from the thread pointer, which only the initial-exec model
// has: a program that loads nib late fails to load instead of reading something else.
[[gnu::tls_model("initial-exec")]] thread_local std::uintptr_t stack_limit = 0;

// A stack without a limit of its own (ulimit -s unlimited) would let a runaway recursion take all memory. And
// AddressSanitizer does not follow a longjmp over more than 64 MiB.
constexpr std::uintptr_t kMaxStackUse = std::uintptr_t{32} << 20;

std::uintptr_t find_stack_limit() noexcept {
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  std::uintptr_t limit = here > kMaxStackUse ? here - kMaxStackUse : 0;
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return here - kStackReserve;
  void* lowest = nullptr;
  std::size_t size = 0;
  std::size_t guard = 0;
  pthread_attr_getstack(&attributes, &lowest, &size);
  pthread_attr_getguardsize(&attributes, &guard);
  pthread_attr_destroy(&attributes);
  return std::max(limit, reinterpret_cast<std::uintptr_t>(lowest) + guard + kStackReserve);
}

std::uint64_t now_ns() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

std::string text_of(const Run& run) {
  static constexpr std::string_view kTexts[] = {
#define FAULT(name, text) text,
#include "nib/fault.def"
#undef FAULT
  };
  std::string text(kTexts[static_cast<std::size_t>(run.kind)]);
  const auto put = [&text](std::string_view name, std::string_view value) {
    if (const auto at = text.find(name); at != std::string::npos) text.replace(at, name.size(), value);
  };
  put("{1}", std::to_string(run.first));
  put("{2}", std::to_string(run.second));
  put("{function}", run.fault->function);
  put("{text}", run.fault->text);
  return text;
}

// A function of its own: locals of a function that calls setjmp are lost at a longjmp when they changed.
[[gnu::noinline]] void call_main(Run& state, void (*entry)()) {
  if (setjmp(state.leave) != 0) return;
  state.result.start_ns = now_ns();
  entry();
}

}  // namespace

RunResult run(void (*entry)(), const Output& output, const CodeTable* code, std::size_t heap_limit) {
  Run state{.output = output, .code = code, .heap = Heap(heap_limit), .result = {}};
  const CurrentRun current(state);
  stack_limit = find_stack_limit();
  call_main(state, entry);
  state.result.end_ns = now_ns();
  if (state.fault != nullptr) {
    state.result.error = Diagnostic{state.fault->at, text_of(state)};
  }
  return state.result;
}

std::int32_t stack_limit_offset() noexcept {
  // %fs:0 holds its own address (System V ABI for x86-64, thread-local storage).
  std::uintptr_t thread_pointer = 0;
  asm("mov %%fs:0, %0" : "=r"(thread_pointer));
  return static_cast<std::int32_t>(reinterpret_cast<std::uintptr_t>(&stack_limit) - thread_pointer);
}

[[noreturn]] void fail(const FaultSite& site, Fault kind, std::int64_t first, std::int64_t second) {
  current_run->fault = &site;
  current_run->kind = kind;
  current_run->first = first;
  current_run->second = second;
  if (current_run->code != nullptr) walk_stack(*current_run->code, current_run->result.trace);
  longjmp(current_run->leave, 1);
}

Array* new_array(const FaultSite& site, Kind kind, std::int64_t length) {
  Heap& heap = current_run->heap;
  const std::int64_t longest = heap.max_length(kind);
  if (length < 0 || length > longest) fail(site, site.fault, length, longest);
  Array* const array = heap.allocate_array(kind, length);
  if (array == nullptr) fail(site, Fault::kNoMemory, 0, 0);
  return array;
}

void print(std::string_view line) {
  current_run->output(line);
}

void nib_print_int(std::int64_t value) {
  print(NumberText(value).line());
}

void nib_print_bool(std::int64_t value) {
  print(value != 0 ? "true\n" : "false\n");
}

void nib_print_float(double value) {
  print(NumberText(value).line());
}

void nib_print_str(const Array* value) {
  print(std::string(value->text()) + "\n");
}

Array* nib_new_array(const FaultSite* site, std::int64_t length, std::int64_t value, std::int64_t kind) {
  Array* const array = new_array(*site, static_cast<Kind>(kind), length);
  if (array->head.kind == Kind::kBytes) {
    std::fill_n(static_cast<std::int8_t*>(array->elements()), length, static_cast<std::int8_t>(value));
  } else {
    std::fill_n(static_cast<std::int64_t*>(array->elements()), length, value);
  }
  return array;
}

Array* nib_new_floats(const FaultSite* site, std::int64_t length, double value) {
  return nib_new_array(site, length, std::bit_cast<std::int64_t>(value),
                       static_cast<std::int64_t>(Kind::kWords));
}

Object* nib_new_record(const FaultSite* site, std::int64_t header) {
  Object* const record = current_run->heap.allocate(std::bit_cast<Object>(header));
  if (record == nullptr) fail(*site, Fault::kNoMemory, 0, 0);
  return record;
}

void nib_fail(const FaultSite* site) {
  nib_fail_with(site, 0, 0);
}

void nib_fail_with(const FaultSite* site, std::int64_t first, std::int64_t second) {
  fail(*site, site->fault, first, second);
}

}  // namespace nib
