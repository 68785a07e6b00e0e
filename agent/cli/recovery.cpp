#include "agent/cli/recovery.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "agent/cli/words.hpp"

namespace jitquill::cli {
namespace {

namespace fs = std::filesystem;

constexpr char kLanes[] =
    "lanes";  // in an output folder a link to the lane folder, there the lanes themselves

void add_lane_folders(const fs::path& parent, std::vector<std::string>& found) {
  std::error_code error;
  for (fs::directory_iterator at(parent, error), end; !error && at != end; at.increment(error)) {
    if (is_lane_folder(at->path())) found.push_back(at->path().native());
  }
}

}  // namespace

bool is_lane_folder(const std::string& folder) {
  std::error_code error;
  return fs::symlink_status(fs::path(folder) / kLanes, error).type() == fs::file_type::regular;
}

std::vector<std::string> lane_folders() {
  const std::string name = "jitquill-" + std::to_string(::geteuid());
  std::vector<std::string> found;
  add_lane_folders("/dev/shm/" + name, found);
  const char* const runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && runtime[0] == '/') add_lane_folders(fs::path(runtime) / name, found);
  std::sort(found.begin(), found.end());
  return found;
}

std::optional<drain::Recovery> recover(const std::string& folder) {
  std::error_code error;
  fs::path lanes = folder;
  if (!is_lane_folder(folder)) lanes = fs::canonical(lanes / kLanes, error);
  if (error || !is_lane_folder(lanes)) return std::nullopt;
  drain::RecoverSettings settings;
  settings.say = say;
  // Found by its output folder: that may have been moved since.
  if (lanes != folder) settings.output_folder = folder.c_str();
  return drain::recover(lanes.c_str(), settings);
}

}  // namespace jitquill::cli
