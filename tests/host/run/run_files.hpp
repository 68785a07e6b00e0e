// The files of run news that a host's run leaves, judged.
//
// Context   drivers of host programs.
// Promises  what is asked for has passed the strict reader, or the test has failed.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "tests/host/jitdump/agent_run.hpp"
#include "tests/readers/calls/reader.hpp"

namespace run_files {

// The only file of this name below the folder; "" fails the test.
std::string only(const test_support::TempFolder& folder, const std::string& name);

calls_reader::File calls(const test_support::TempFolder& folder);
calls_reader::File calls_in(const std::string& output);  // a process's own output folder

struct Count {
  std::uint64_t calls = 0;
  std::uint64_t total_ns = 0;
  std::uint64_t self_ns = 0;
  std::uint64_t min_ns = 0;
  std::uint64_t max_ns = 0;
  std::string place;
};

// By name: two rows of one name fail the test. With `adds_versions` their calls are added: of code that was
// replaced by better code of the same function.
std::map<std::string, Count> counts(const test_support::TempFolder& folder, bool adds_versions = false);
std::map<std::string, Count> counts_in(const std::string& output, bool adds_versions = false);

// name -> value of the file stats.
std::map<std::string, std::uint64_t> stats(const test_support::TempFolder& folder);
std::map<std::string, std::uint64_t> stats_in(const std::string& output);

// Nothing is lost, and nothing of ours lies in shared memory: `pid` is the host's.
void expect_whole(const test_support::TempFolder& folder, pid_t pid);

// Nothing of ours lies in shared memory of that process.
void expect_no_lanes(pid_t pid);
// At most an empty folder: somebody was killed while it removed the rest.
void expect_no_memory(pid_t pid);

}  // namespace run_files
