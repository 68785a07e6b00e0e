// Runs the `jitquill` command for its tests.
//
// Context   tests.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "tests/support/child.hpp"
#include "tests/support/temp_folder.hpp"

namespace cli_test {

// In `folder`, where its output goes too.
test_support::Command jitquill(const test_support::TempFolder& folder, const std::vector<std::string>& words);
test_support::Ended run_jitquill(const test_support::TempFolder& folder,
                                 const std::vector<std::string>& words);

// A nib program of demo-jit/programs.
std::string program(const std::string& name);

// Started by `process`, and by that name now.
bool has_child_named(pid_t process, const std::string& name);

}  // namespace cli_test
