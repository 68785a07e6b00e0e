// Programs as strings: what the tests of nib share.
//
// Context   tests.
// Promises  errors_of() gives "line:column: text" per error, in the order of the text.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "nib/checker.hpp"
#include "nib/parser.hpp"
#include "nib/source.hpp"

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

}  // namespace nib::test
