// The calls that led to a run-time error, walked by libunwind.
//
// nib's functions keep no frame pointer: how their frames are left is known to unwinders only because the
// agent registers what the adapter found out (docs/unwinders.md). libunwind is opened with RTLD_LOCAL, so C++
// exceptions stay with the unwinder that the process was linked with. Without an agent or libunwind there is
// no trace, and `missing` says why.
//
// Context   any thread, on the stack that is walked.
// Promises  keeps the kFirst newest and the kLast oldest calls, however deep the stack.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "nib/code_table.hpp"
#include "nib/source.hpp"

namespace nib {

struct StackTrace {
  static constexpr std::size_t kFirst = 20;
  static constexpr std::size_t kLast = 5;

  std::vector<CodeTable::Place> first;
  std::vector<CodeTable::Place> last;
  std::size_t left_out = 0;  // between the two
  std::string missing;       // why there is no trace; empty: there is one
};

// Opens libunwind now, so that the agent tells it of the code that is placed from here on.
void prepare_stack_traces() noexcept;

void walk_stack(const CodeTable& code, StackTrace& trace);

// "  at fib (fib.nib:4)" for each call, newest first.
std::vector<std::string> to_lines(const Source& source, const StackTrace& trace);

}  // namespace nib
