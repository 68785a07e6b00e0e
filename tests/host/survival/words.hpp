// Runs words_host with outputs of calls, and reads what each of its processes left.
//
// Context   tests.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tests/host/run/run_files.hpp"

namespace words {

using Calls = std::map<std::string, std::uint64_t>;  // by function

struct Output {
  std::string folder;
  Calls calls;   // of `calls`, which passed the reader
  Calls counts;  // of `counts`
  calls_reader::File file;
};

// With libjitquill-preload.so; the default options are formats=calls,counts hooks=*.
test_support::Command command(const test_support::TempFolder& folder, const std::vector<std::string>& said,
                              const std::string& options = "");

// Each output folder that has calls, in the order of their names; numbers are cut off by `calls_of`.
std::vector<Output> outputs(const test_support::TempFolder& folder);

// Runs it, expects success and nothing said or left in shared memory of that process, and that calls and
// counts agree.
std::vector<Output> run(const test_support::TempFolder& folder, const std::vector<std::string>& said,
                        const std::string& options = "");

// The output with exactly these calls is among them.
testing::AssertionResult has(const std::vector<Output>& outputs, const Calls& calls);

}  // namespace words
