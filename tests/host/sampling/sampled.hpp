// The files of samples that a host's run leaves, judged.
//
// Context   drivers of host programs.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "tests/host/run/run_files.hpp"

namespace sampled {

// Where not even our own clock can be sampled, as in containers that forbid it, there is nothing to be
// tested.
bool can_sample();

struct Row {
  std::uint64_t self = 0;
  std::uint64_t total = 0;
  std::uint64_t kernel = 0;
};

struct File {
  std::map<std::string, Row> rows;  // by name; versions of a function are added
  std::uint64_t samples = 0;
  std::uint64_t partial = 0;
  std::uint64_t lost = 0;

  double share(const std::string& function) const;  // of all samples at own instructions, in percent
  double reaching(const std::string& function) const;
};

// Its sum is that of its rows, or the test has failed.
File read_file(const std::string& path);
// Of a process's output folder: what `stats` counts is in it.
File read_in(const std::string& output);
File read(const test_support::TempFolder& folder);

std::string log_in(const std::string& output);  // all of it; empty = there is none

}  // namespace sampled
