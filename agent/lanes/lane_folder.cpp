#include "agent/lanes/lane_folder.hpp"

#include <fcntl.h>

#include <cerrno>

#include "agent/base/folder_entries.hpp"
#include "agent/base/folders.hpp"
#include "agent/lanes/pool.hpp"
#include "writer/bytes/decimal.hpp"
#include "writer/bytes/raw_calls.hpp"

namespace jitquill::lanes {
namespace {

constexpr std::uint32_t kMostFolders = 1000;  // of one number: what earlier processes of it left behind

// False: longer than a path may be.
bool compose(char (&path)[4096], std::initializer_list<std::string_view> parts) noexcept {
  std::size_t size = 0;
  for (const std::string_view part : parts) {
    if (part.size() >= sizeof path - size) return false;
    size += part.copy(path + size, part.size());
  }
  path[size] = '\0';
  return true;
}

}  // namespace

int LaneFolder::make_in(std::string_view place, std::uint32_t pid) noexcept {
  if (place.empty()) return -ENOENT;
  const Decimal user(static_cast<std::uint64_t>(raw::call(SYS_geteuid)));
  if (!compose(parent_, {place, "/", kParentStem, user.view()})) return -ENAMETOOLONG;
  if (const int made = folders::make(parent_); made != 0 && made != -EEXIST) return made;
  folders::Identity any;
  if (const int judged = folders::inspect(parent_, any); judged != 0) return judged;
  for (std::uint32_t n = 0; n < kMostFolders; ++n) {
    const Decimal process(pid), number(n);
    if (!compose(path_, {parent_, "/", process.view(), n == 0 ? "" : ".", n == 0 ? "" : number.view()}))
      return -ENAMETOOLONG;
    if (const int made = folders::make(path_); made != -EEXIST) return made;
  }
  return -EEXIST;
}

int LaneFolder::make(const Places& places, std::uint32_t pid) noexcept {
  int made = -ENOENT;
  for (const std::string_view place : {places.shared_memory, places.runtime_dir, places.output_folder}) {
    made = make_in(place, pid);
    if (made == 0) return 0;
  }
  parent_[0] = path_[0] = '\0';
  return made;
}

void LaneFolder::remove() noexcept {
  if (path_[0] != '\0') remove_lane_folder(AT_FDCWD, path_);
  path_[0] = '\0';
}

void remove_lane_folder(int parent, const char* name) noexcept {
  const int folder = raw::open_at(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
  if (folder < 0) return;
  // What tells that it is one nearly last, so that whoever is killed in here can be followed by another. Its
  // lock last: nobody else may take the folder for another's meanwhile.
  for_each_entry(folder, ".", [&](const char* entry) {
    const std::string_view file(entry);
    if (file != LaneFolder::kLockName && file != Pool::kFileName)
      (void)raw::call(SYS_unlinkat, folder, entry, 0);
  });
  (void)raw::call(SYS_unlinkat, folder, Pool::kFileName, 0);
  // Whoever looks at it now makes another lock.
  constexpr int kTries = 10;
  long removed = -ENOTEMPTY;
  for (int i = 0; i < kTries && removed == -ENOTEMPTY; ++i) {
    (void)raw::call(SYS_unlinkat, folder, LaneFolder::kLockName, 0);
    removed = raw::call(SYS_unlinkat, parent, name, AT_REMOVEDIR);
  }
  raw::close(folder);
}

}  // namespace jitquill::lanes
