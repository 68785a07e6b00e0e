// The folder where the lanes of a process lie until their records are in the outputs:
// <place>/jitquill-<uid>/<pid>[.N]/ with `lanes`, `code`, `journal`, `lock`. The place is /dev/shm, else
// $XDG_RUNTIME_DIR, else the output folder.
//
// Context   [life]; raw system calls only.
// Promises  folders 0700, of this user, no links. What others put there is never followed.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace jitquill::lanes {

class LaneFolder {
 public:
  static constexpr char kSharedMemory[] = "/dev/shm";
  static constexpr char kParentStem[] = "jitquill-";  // the uid follows
  // In the output folder: points to the lane folder while that is there.
  static constexpr char kLinkName[] = "lanes";
  // Held by whoever recovers or removes: flock(), exclusive.
  static constexpr char kLockName[] = "lock";

  struct Places {
    std::string_view shared_memory = kSharedMemory;
    std::string_view runtime_dir;  // empty: there is none
    std::string_view output_folder;
  };

  // Makes the folder at the first place that takes it: the first free N. 0, or -errno of the last place.
  int make(const Places& places, std::uint32_t pid) noexcept;
  // Of the parent's, in a child.
  void forget() noexcept { path_[0] = '\0'; }
  // Everything in it, and the folder.
  void remove() noexcept;

  const char* path() const noexcept { return path_; }  // empty before make()
  // The folder above it, whose other folders are of other processes: dead_pools.hpp.
  const char* parent() const noexcept { return parent_; }

 private:
  int make_in(std::string_view place, std::uint32_t pid) noexcept;

  char parent_[4096] = {};
  char path_[4096] = {};
};

// Removes a lane folder and what is in it. `parent`: a handle of the folder above.
void remove_lane_folder(int parent, const char* name) noexcept;

}  // namespace jitquill::lanes
