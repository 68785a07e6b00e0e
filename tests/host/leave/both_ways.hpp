// Runs a host twice, without libjitquill-preload.so and with it: from outside, both must look the same.
//
// Context   drivers of host programs.
// Promises  each dump that was left has passed the strict reader, or the test has failed.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/host/jitdump/agent_run.hpp"

// What one process left in its folder.
struct LeftBehind {
  std::string folder;  // its name alone
  jitdump_reader::Dump dump;
  std::map<std::string, std::uint64_t> statistics;  // empty: none were written

  std::vector<std::uint32_t> functions() const;  // their numbers, in order; each as the pattern says
  bool has_counted_all() const;                  // there are statistics, of exactly these functions
};

// By folder, in the order of the first function.
std::vector<LeftBehind> left_behind(const test_support::TempFolder& folder);

struct BothWays {
  test_support::Ended ended;     // as it was both times
  std::vector<int> daemons;      // the statuses of what the host left running
  std::vector<LeftBehind> left;  // by the run with the preload
};

BothWays run_both_ways(const std::string& host, const std::vector<std::string>& arguments,
                       const std::string& options = "", unsigned daemons = 0);

// from, from + 1, ... without `end`.
std::vector<std::uint32_t> numbers(std::uint32_t from, std::uint32_t end);
