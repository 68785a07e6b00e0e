// Finds and judges the perf maps that a host's run leaves, and takes those in /tmp away again.
//
// Context   drivers of host programs.
// Promises  every map that is asked for has passed the strict reader, or the test has failed.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "tests/host/jitdump/agent_run.hpp"
#include "tests/readers/perfmap/reader.hpp"

// The map of a process in /tmp; gone when the test ends.
class MapInTmp {
 public:
  explicit MapInTmp(pid_t pid);
  ~MapInTmp();
  MapInTmp(const MapInTmp&) = delete;
  MapInTmp& operator=(const MapInTmp&) = delete;

  const std::string& path() const { return path_; }
  bool exists() const;  // also as a link to nothing

 private:
  std::string path_;
};

std::vector<std::string> map_files(const test_support::TempFolder& folder);

perfmap_reader::Map judged_map(const std::string& file, perfmap_reader::Expectations expectations = {});

// The only one below the folder; fails the test if there are none or several.
perfmap_reader::Map only_map(const test_support::TempFolder& folder,
                             perfmap_reader::Expectations expectations = {});

// The N of each fn_N, in the file's order; fails the test where name or size is not as pattern.hpp says.
std::vector<std::uint32_t> numbers_of(const perfmap_reader::Map& map);

// 0, 1, 2 ... at the distance at which hosts lay them out.
void expect_patterns_in_order(const perfmap_reader::Map& map);
