// What an OpenJ9 trace tells, to be compared with another's.
//
// Context   tests.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "tests/readers/openj9/reader.hpp"
#include "tests/unit/drain/told_log.hpp"

namespace jitquill::tests {

// A line for each entry, thread by thread: where records end is of the drain's passes.
inline std::vector<std::string> told(const openj9_reader::File& trace) {
  EXPECT_EQ(describe(trace.violations), "");
  std::map<std::uint64_t, std::vector<std::string>> threads;
  for (const auto& entry : trace.entries) {
    threads[entry.thread].push_back(std::to_string(entry.thread) + ' ' + std::to_string(entry.ticks) + ' ' +
                                    entry.component + '.' + std::to_string(entry.number) + ' ' +
                                    entry.parameters);
  }
  std::vector<std::string> all;
  for (const auto& [thread, lines] : threads) all.insert(all.end(), lines.begin(), lines.end());
  return all;
}

}  // namespace jitquill::tests
