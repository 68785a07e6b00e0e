// Programs as strings: what the tests of nib share.
//
// Context   tests.
// Promises  errors_of() gives "line:column: text" per error, in the order of the text. run_text() fails the
//           test when the program does not compile.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "nib/checker.hpp"
#include "nib/executable.hpp"
#include "nib/parser.hpp"
#include "nib/runtime.hpp"
#include "nib/source.hpp"
#include "tests/unit/nib/kept_registers.hpp"

namespace nib::test {

inline Source source_of(std::string_view text) {
  return {.name = "test.nib", .absolute_path = "/test.nib", .text = std::string(text)};
}

inline std::string short_line(const Diagnostic& error) {
  return std::to_string(error.at.line) + ":" + std::to_string(error.at.column) + ": " + error.text;
}

inline std::vector<std::string> errors_of(std::string_view text) {
  const Source source = source_of(text);
  Diagnostics diagnostics;
  Program program = parse(source, diagnostics);
  if (diagnostics.empty()) check(program, diagnostics);
  std::vector<std::string> result;
  for (const Diagnostic& each : diagnostics.sorted()) result.push_back(short_line(each));
  return result;
}

struct Ran {
  std::string output;
  std::string error;  // "line:column: text" of a run-time error, else empty
};

inline Ran run_text_as(std::string_view text, const HeapOptions& heap, const CompileOptions& options) {
  const Source source = source_of(text);
  Diagnostics diagnostics;
  const auto executable = compile(source, diagnostics, options);
  for (const Diagnostic& each : diagnostics.sorted()) ADD_FAILURE() << short_line(each) << "\n" << text;
  Ran ran;
  if (executable == nullptr) return ran;
  constexpr std::size_t kWorkers = 4;
  nib_called = executable->main();
  nib_lost_registers = 0;
  const RunResult result = run(
      nib_call_and_compare, [&ran](std::string_view line) { ran.output.append(line); }, nullptr, heap,
      kWorkers);
  EXPECT_EQ(nib_lost_registers, 0) << text;
  if (result.error) ran.error = short_line(*result.error);
  return ran;
}

// The same in all tiers, and while code comes and goes, of programs that are compiled quickly.
inline Ran run_text(std::string_view text, const HeapOptions& heap = {}) {
  constexpr std::size_t kShort = 2000;
  const Ran ran = run_text_as(text, heap, {});
  if (text.size() > kShort) return ran;
  for (const CompileOptions& options : {CompileOptions{.tiers = Tiers::kSecond}, CompileOptions{.hot = 1},
                                        CompileOptions{.hot = 3, .code_limit = 4096}}) {
    const Ran other = run_text_as(text, heap, options);
    EXPECT_EQ(other.output, ran.output) << text;
    EXPECT_EQ(other.error, ran.error) << text;
  }
  return ran;
}

// What `fn main() { BODY }` prints.
inline std::string output_of(std::string_view body) {
  const Ran ran = run_text("fn main() {" + std::string(body) + "}");
  EXPECT_EQ(ran.error, "");
  return ran.output;
}

}  // namespace nib::test
