// Making and judging folders, their files, and the link to the newest of them.
//
// Context   [life], [drain] and under the leaf lock; raw system calls only.
// Promises  what is made is 0700. Nothing that exists is changed, but a symbolic link of our own name.
#pragma once

#include <cstdint>

namespace jitquill::folders {

// Makes one folder. 0, or -errno: -EEXIST where something of this name is there.
int make(const char* path) noexcept;

// Makes the folders above and at `path`, as far as they are missing. `path` is the same again afterwards.
int make_all(char* path) noexcept;

// Files in it cannot be mapped executable, so that perf would never hear of them.
bool forbids_execution(const char* path) noexcept;

bool belongs_to_us(const char* path) noexcept;

// Which folder it is, whatever its path comes to mean later.
struct Identity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  bool operator==(const Identity&) const noexcept = default;
};

// 0 for a folder (no link to one) of this user's own that nobody else may look into, which it is in
// `identity`; or -errno: -EPERM where it is none.
int inspect(const char* path, Identity& identity) noexcept;

// A handle to work in such a folder, close-on-exec, or -errno.
int open(const char* path, Identity& identity) noexcept;

// An existing file in such a folder, to read and write, on a high descriptor; or -errno.
int open_file(const char* path, const char* name) noexcept;

// As open(), of the folder of that identity; -ENOENT where another is there now.
int open_same(const char* path, const Identity& identity) noexcept;

// A new file in the folder of that identity, for reading and writing, on a high descriptor; or -errno.
int create_file(const char* path, const Identity& identity, const char* name) noexcept;

// Takes a file out of the folder of that identity.
void remove_file(const char* path, const Identity& identity, const char* name) noexcept;

// Lets `link_name` in `folder` point to `target`, at one moment. Nothing happens where that name is no link:
// it is somebody's own. `pid` tells processes apart that do so at the same time.
void link(const char* folder, const char* link_name, const char* target, std::uint32_t pid) noexcept;

}  // namespace jitquill::folders
