// Records a host with perf, injects its jitdump unless told not to, and reads the samples back as perf's own
// tools show them.
//
// Context   perf tests.
// Promises  nothing is written outside of the given folder: perf's build-id cache and home lie in it too.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/support/child.hpp"

namespace perf_run {

struct Frame {
  std::uint64_t ip = 0;
  std::string symbol;
  std::string object;   // the file that it is from
  std::string srcline;  // only where it was asked for
};

struct Sample {
  pid_t pid = 0;
  std::uint64_t when_ns = 0;
  std::uint64_t ip = 0;  // in memory; a frame's is counted from its file's start where perf knows the file
  std::vector<Frame> frames;  // the innermost first
  bool reaches(const std::string& symbol) const;
  bool has_symbol_starting(const std::string& start) const;
};

struct Range {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint64_t number = 0;  // the meaning is the line's
  bool has(std::uint64_t value) const { return value >= start && value < end; }
};

struct Recording {
  std::string error;  // empty: perf did all that it was asked for
  std::string host_out;
  std::string host_err;
  std::vector<Sample> samples;
  // The host's own words: "stamps <what>" by what, "anonymous", "line".
  std::map<std::string, Range> stamps;
  std::vector<Range> anonymous;
  std::vector<Range> lines;

  std::vector<Sample> between(const Range& stamps) const;
};

struct Request {
  std::vector<std::string> host;  // with arguments
  std::string agent_options;
  std::string frequency = "1500";
  bool stacks = true;
  std::string call_graph = "dwarf,8192";
  bool injects = true;  // false: what perf shows of the recording as it is
  bool srclines = false;
};

// Why perf cannot record here; empty if it can.
std::string why_not(const test_support::TempFolder& folder);

Recording record(const test_support::TempFolder& folder, const Request& request);

// perf inject of `recording` (a file): what came of it.
test_support::Ended inject(const test_support::TempFolder& folder, const std::string& recording,
                           const std::string& injected);

}  // namespace perf_run
