#include "agent/cli/recovery.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "agent/cli/words.hpp"
#include "agent/lanes/lane_folder.hpp"
#include "agent/lanes/pool.hpp"

namespace jitquill::cli {
namespace {

namespace fs = std::filesystem;

using lanes::LaneFolder;

void add_lane_folders(const fs::path& parent, std::vector<std::string>& found) {
  std::error_code error;
  for (fs::directory_iterator at(parent, error), end; !error && at != end; at.increment(error)) {
    if (is_lane_folder(at->path())) found.push_back(at->path().native());
  }
}

}  // namespace

bool is_lane_folder(const std::string& folder) {
  std::error_code error;
  return fs::symlink_status(fs::path(folder) / lanes::Pool::kFileName, error).type() ==
         fs::file_type::regular;
}

std::vector<std::string> lane_folders() {
  const std::string name = LaneFolder::kParentStem + std::to_string(::geteuid());
  std::vector<std::string> found;
  add_lane_folders(fs::path(LaneFolder::kSharedMemory) / name, found);
  const char* const runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && runtime[0] == '/') add_lane_folders(fs::path(runtime) / name, found);
  std::sort(found.begin(), found.end());
  return found;
}

std::optional<drain::Recovery> recover(const std::string& folder) {
  std::error_code error;
  fs::path lane_folder = folder;
  if (!is_lane_folder(folder)) lane_folder = fs::canonical(lane_folder / LaneFolder::kLinkName, error);
  if (error || !is_lane_folder(lane_folder)) return std::nullopt;
  drain::RecoverSettings settings;
  settings.say = say;
  // Found by its output folder: that may have been moved since.
  if (lane_folder != folder) settings.output_folder = folder.c_str();
  return drain::recover(lane_folder.c_str(), settings);
}

}  // namespace jitquill::cli
