// The folder that this process's files go to: <dir>/<exe>-<pid>[.N].
//
// Context   [life] and under the leaf lock; raw system calls only.
// Promises  folders 0700; files new (never one that exists, never through a link), 0600, close-on-exec, on a
// high
//           descriptor, so that a host which counts on low numbers gets them.
// Does not  make anything before open().
#pragma once

#include <cstdint>
#include <string_view>

#include "agent/life/options.hpp"
#include "writer/sink/sink.hpp"

namespace jitquill {

class OutputPlace final : public Folder {
 public:
  static constexpr std::size_t kPathSize = 4096;

  // Remembers where the process started and what its executable is called. Once, before the host changes
  // either.
  void note_start() noexcept;

  // Makes the folder: the first free N. 0, or -errno.
  int open(std::string_view dir, std::uint32_t pid) noexcept;

  int create(const char* name) noexcept override;

  // Absolute; empty before open().
  const char* path() const noexcept { return path_; }
  const char* executable() const noexcept { return executable_; }

 private:
  char start_dir_[kPathSize] = {};
  char executable_[33] = {};
  char path_[kPathSize] = {};
};

}  // namespace jitquill
