// Finishes what a killed process left in its lane folder.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/drain/recover.hpp"

namespace jitquill::cli {

// Of an output folder, or of a lane folder itself. Nothing where there are no lanes: dumps and maps are
// whole at every moment.
std::optional<drain::Recovery> recover(const std::string& folder);

bool is_lane_folder(const std::string& folder);
// All of this user's, in shared memory and in the runtime directory.
std::vector<std::string> lane_folders();

}  // namespace jitquill::cli
