#include "agent/cli/recovery.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <thread>

#include "agent/cli/words.hpp"
#include "agent/lanes/dead_pools.hpp"
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

std::string parent_name() {
  return LaneFolder::kParentStem + std::to_string(::geteuid());
}

// Processes that start look whether it is one to be swept: for a moment each.
int lock_against_sweepers(int folder) {
  using namespace std::chrono_literals;
  constexpr int kTries = 100;
  int lock = -EWOULDBLOCK;
  for (int i = 0; i < kTries && lock == -EWOULDBLOCK; ++i) {
    if (i != 0) std::this_thread::sleep_for(10ms);
    lock = lanes::lock_lane_folder(folder);
  }
  return lock;
}

// All of it is in the output now. No copy that somebody keeps elsewhere.
void remove_lanes(const fs::path& path) {
  if (path.parent_path().filename() != parent_name()) return;
  const int folder = ::open(path.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0) return;
  const int lock = lock_against_sweepers(folder);
  if (lock >= 0) {
    lanes::remove_lane_folder(AT_FDCWD, path.c_str());
    ::close(lock);
  }
  ::close(folder);
}

// Whoever removed it was killed before the last step.
bool is_half_removed(const fs::path& folder) {
  if (folder.parent_path().filename() != parent_name()) return false;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (at->path().filename() != LaneFolder::kLockName) return false;
  }
  return !error;
}

// What was found by its output folder loses the link to it.
void remove_both(const fs::path& lanes, const std::string& folder) {
  remove_lanes(lanes);
  std::error_code error;
  if (lanes != folder) fs::remove(fs::path(folder) / LaneFolder::kLinkName, error);
}

}  // namespace

bool is_lane_folder(const std::string& folder) {
  std::error_code error;
  return fs::symlink_status(fs::path(folder) / lanes::Pool::kFileName, error).type() ==
         fs::file_type::regular;
}

std::vector<std::string> lane_folders() {
  const std::string name = parent_name();
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
  const fs::path link = lane_folder / LaneFolder::kLinkName;
  if (!is_lane_folder(folder)) {
    if (!fs::is_symlink(link, error)) return std::nullopt;
    lane_folder = fs::canonical(link, error);
    if (!error && is_half_removed(lane_folder)) {
      remove_both(lane_folder, folder);
      return drain::Recovery::kNothingToDo;
    }
    // Somebody else took them away, or whoever removed them was killed before it removed the link.
    if (error || !is_lane_folder(lane_folder)) return drain::Recovery::kNoLanes;
  }
  drain::RecoverSettings settings;
  settings.say = say;
  // Found by its output folder: that may have been moved since.
  if (lane_folder != folder) settings.output_folder = folder.c_str();
  const drain::Recovery recovery = drain::recover(lane_folder.c_str(), settings);
  if (recovery != drain::Recovery::kDone && recovery != drain::Recovery::kNothingToDo) return recovery;
  remove_both(lane_folder, folder);
  return recovery;
}

}  // namespace jitquill::cli
