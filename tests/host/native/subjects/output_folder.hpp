// The output folder of one process among those of its children.
//
// Context   drivers of host programs.
// Promises  the newest of that process that has counts, or the test has failed.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/host/run/run_files.hpp"

namespace run_files {

inline std::string output_of(const test_support::TempFolder& folder, pid_t pid) {
  std::string newest;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path() + "/out")) {
    const std::string name =
        entry.path().stem().extension() == "" ? entry.path().stem() : entry.path().filename();
    const bool is_its = !entry.is_symlink() && name.ends_with("-" + std::to_string(pid));
    if (is_its && entry.path() > newest && exists(entry.path() / "counts")) newest = entry.path();
  }
  EXPECT_NE(newest, "") << "no output of " << pid;
  return newest;
}

}  // namespace run_files
