// Finishes what a killed process left in its lane folder.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace jitquill::cli {

enum class Recovered : std::uint8_t {
  kNothing,  // no lanes: dumps and maps are whole at every moment
  kDone,
  kRunning,  // its process lives
  kFailed,   // said
};

// Of an output folder, or of a lane folder itself.
Recovered recover(const std::string& folder);

bool is_lane_folder(const std::string& folder);
// All of this user's, in shared memory and in the runtime directory.
std::vector<std::string> lane_folders();

}  // namespace jitquill::cli
