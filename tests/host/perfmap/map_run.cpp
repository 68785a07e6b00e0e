#include "tests/host/perfmap/map_run.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "tests/host/jitdump/pattern.hpp"

using perfmap_reader::Function;
using perfmap_reader::Map;

MapInTmp::MapInTmp(pid_t pid) : path_("/tmp/perf-" + std::to_string(pid) + ".map") {}

MapInTmp::~MapInTmp() {
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

bool MapInTmp::exists() const {
  return std::filesystem::exists(std::filesystem::symlink_status(path_));
}

std::vector<std::string> map_files(const test_support::TempFolder& folder) {
  return test_support::files_below(folder.path(), "perf-", ".map");
}

Map judged_map(const std::string& file, perfmap_reader::Expectations expectations) {
  Map map = perfmap_reader::read_file(file, expectations);
  EXPECT_EQ(perfmap_reader::describe(map.violations), "") << file;
  return map;
}

Map only_map(const test_support::TempFolder& folder, perfmap_reader::Expectations expectations) {
  const auto files = map_files(folder);
  EXPECT_EQ(files.size(), 1u);
  return files.empty() ? Map{} : judged_map(files.front(), expectations);
}

std::vector<std::uint32_t> numbers_of(const Map& map) {
  std::vector<std::uint32_t> numbers;
  for (const Function& function : map.functions) {
    const auto i = static_cast<std::uint32_t>(std::strtoul(function.name.c_str() + 3, nullptr, 10));
    EXPECT_EQ(function.name, "fn_" + std::to_string(i));
    EXPECT_EQ(function.size, pattern::code_size(i)) << function.name;
    numbers.push_back(i);
  }
  return numbers;
}

void expect_patterns_in_order(const Map& map) {
  const std::vector<std::uint32_t> numbers = numbers_of(map);
  for (std::uint32_t i = 0; i < numbers.size(); ++i) {
    ASSERT_EQ(numbers[i], i);
    ASSERT_EQ(map.functions[i].address, map.functions[0].address + i * pattern::kSpacing);
  }
}
