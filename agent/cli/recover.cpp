#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <vector>

#include "agent/cli/process_output.hpp"
#include "agent/cli/recovery.hpp"
#include "agent/cli/verbs.hpp"
#include "agent/cli/words.hpp"
#include "agent/lanes/lane_folder.hpp"

namespace jitquill::cli {
namespace {

namespace fs = std::filesystem;

// <command>-<pid>[.N], with one of our files in it.
bool is_output_folder(const fs::path& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) return false;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().native();
    if (name == "stats" || name == "log" || name == lanes::LaneFolder::kLinkName ||
        (name.starts_with("jit-") && name.ends_with(".dump")))
      return true;
  }
  return false;
}

std::vector<std::string> folders_of(const std::string& named) {
  if (named.empty()) return lane_folders();
  if (is_lane_folder(named) || is_output_folder(named)) return {named};
  std::vector<std::string> found;
  std::error_code error;
  for (fs::directory_iterator at(named, error), end; !error && at != end; at.increment(error)) {
    if (!at->is_symlink(error) && is_output_folder(at->path())) found.push_back(at->path().native());
  }
  std::sort(found.begin(), found.end());
  return found;
}

// A process that was killed in the middle of a write leaves a part of one record, which all readers skip.
std::string cut_record_in(const std::string& folder) {
  for (const ProcessOutput& process : read_outputs({folder}, INT64_MAX)) {
    if (process.is_torn) return "; its dump ends inside a record, which readers leave out";
  }
  return {};
}

}  // namespace

int do_verb(const RecoverArguments& arguments) {
  std::error_code error;
  if (!arguments.folder.empty() && !fs::is_directory(arguments.folder, error)) {
    say(arguments.folder + ": " + (error ? error.message() : "no folder"));
    return kUnreadable;
  }
  int exit_code = 0;
  const std::vector<std::string> folders = folders_of(arguments.folder);
  if (folders.empty()) std::printf("nothing to recover\n");
  for (const std::string& folder : folders) {
    const auto recovery = recover(folder);
    const char* const words =
        recovery ? drain::text(*recovery) : "nothing to recover: what was announced is in its files";
    std::printf("%s: %s%s\n", plain(folder).c_str(), words, cut_record_in(folder).c_str());
    const bool is_well =
        !recovery || *recovery == drain::Recovery::kDone || *recovery == drain::Recovery::kNothingToDo;
    if (!is_well) exit_code = 1;
  }
  return exit_code;
}

}  // namespace jitquill::cli
