#include "nib/runtime.hpp"

#include <pthread.h>
#include <setjmp.h>

#include <algorithm>
#include <charconv>
#include <ctime>
#include <string>

namespace nib {
namespace {

// One run on one thread.
struct Run {
  const Output& output;
  const CodeTable* code;
  RunResult result;
  const FaultSite* fault = nullptr;
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

std::string text_of(const FaultSite& site) {
  switch (site.fault) {
    case Fault::kDivisionByZero:
      return "division by zero";
    case Fault::kOverflow:
      return "integer overflow";
    case Fault::kStackOverflow:
      return "stack overflow in function '" + std::string(site.function) + "'";
    case Fault::kFailed:
      return std::string(site.text);
  }
  return {};
}

// A function of its own: locals of a function that calls setjmp are lost at a longjmp when they changed.
[[gnu::noinline]] void call_main(Run& state, void (*entry)()) {
  if (setjmp(state.leave) != 0) return;
  state.result.start_ns = now_ns();
  entry();
}

}  // namespace

RunResult run(void (*entry)(), const Output& output, const CodeTable* code) {
  Run state{.output = output, .code = code, .result = {}};
  const CurrentRun current(state);
  stack_limit = find_stack_limit();
  call_main(state, entry);
  state.result.end_ns = now_ns();
  if (state.fault != nullptr) state.result.error = Diagnostic{state.fault->at, text_of(*state.fault)};
  return state.result;
}

std::int32_t stack_limit_offset() noexcept {
  // %fs:0 holds its own address (System V ABI for x86-64, thread-local storage).
  std::uintptr_t thread_pointer = 0;
  asm("mov %%fs:0, %0" : "=r"(thread_pointer));
  return static_cast<std::int32_t>(reinterpret_cast<std::uintptr_t>(&stack_limit) - thread_pointer);
}

void nib_print_int(std::int64_t value) {
  char line[24];
  char* end = std::to_chars(line, line + sizeof line - 1, value).ptr;
  *end++ = '\n';
  current_run->output({line, static_cast<std::size_t>(end - line)});
}

void nib_print_bool(std::int64_t value) {
  current_run->output(value != 0 ? "true\n" : "false\n");
}

void nib_fail(const FaultSite* site) {
  current_run->fault = site;
  if (current_run->code != nullptr) walk_stack(*current_run->code, current_run->result.trace);
  longjmp(current_run->leave, 1);
}

}  // namespace nib
