// The files of an output that goes on in another where one is full: a.b, a.2.b, a.3.b.
//
// Context   drivers of host programs.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/temp_folder.hpp"

namespace run_files {

// By their numbers, which need not begin with 1.
inline std::vector<std::string> numbered_files(const test_support::TempFolder& folder, const char* ending) {
  auto files = test_support::files_below(folder.path(), "", ending);
  const auto number = [](const std::string& path) {
    const std::string stem = std::filesystem::path(path).stem();
    const auto point = stem.rfind('.');
    return point == stem.npos ? 1 : std::stoul(stem.substr(point + 1));
  };
  std::ranges::sort(files, {}, number);
  return files;
}

}  // namespace run_files
