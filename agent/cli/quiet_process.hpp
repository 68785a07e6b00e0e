// A program that is run for its effect: what it says is kept, for the case that it fails.
#pragma once

#include <string>
#include <vector>

namespace jitquill::cli {

struct QuietEnd {
  int exit_code = -1;  // -1: not started, or ended by a signal
  std::string said;    // on stdout and stderr
};

// With an empty stdin: ours is the host's.
QuietEnd run_quietly(const std::vector<std::string>& words);

}  // namespace jitquill::cli
