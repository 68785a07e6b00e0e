// The folder that this process's files go to: <dir>/<exe>-<pid>[.N].
//
// Context   [life] and under the leaf lock; raw system calls only.
// Promises  folders 0700; files new (never one that exists, never through a link), 0600, close-on-exec, on
//           a high descriptor, so that a host which counts on low numbers gets them.
// Does not  make anything before open().
#pragma once

#include <atomic>
#include <cstdint>
#include <initializer_list>
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
  void remove(const char* name) noexcept override;

  // In a child: the folder is the parent's.
  void forget() noexcept;

  // Absolute; empty before open(). Whole at every moment, also for who does not hold the lock.
  const char* path() const noexcept { return __atomic_load_n(path_, __ATOMIC_ACQUIRE) == 0 ? "" : path_; }

 private:
  bool compose(std::size_t size, std::initializer_list<std::string_view> parts) noexcept;
  void publish() noexcept;
  std::uint32_t first_number(std::string_view parent, std::uint32_t pid) const noexcept;

  char start_dir_[kPathSize] = {};
  char executable_[33] = {};
  char path_[kPathSize] = {};
  char composed_[kPathSize] = {};  // paths are put together here: a host's thread may have a stack of 16 KiB
  std::uint32_t pid_ = 0;          // of the newest folder
  std::uint32_t next_number_ = 0;  // the first N that may be free there
};

}  // namespace jitquill
