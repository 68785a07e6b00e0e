// What an eventlog tells, to be compared with another's.
//
// Context   tests.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/readers/eventlog/reader.hpp"

namespace jitquill::tests {

// Sorted: blocks and the order of threads are of the drain's passes.
inline std::vector<std::string> told(const eventlog_reader::File& log) {
  EXPECT_EQ(describe(log.violations), "");
  std::vector<std::string> all;
  for (const auto& event : log.events) {
    if (event.name == "BLOCK_MARKER") continue;
    std::string line = std::to_string(event.capability) + ' ' + std::to_string(event.when_ns) + ' ' +
                       std::to_string(event.number);
    for (const std::uint64_t number : event.numbers) line += ' ' + std::to_string(number);
    for (const std::string& text : event.texts) line += ' ' + text;
    all.push_back(line);
  }
  std::ranges::sort(all);
  return all;
}

}  // namespace jitquill::tests
