// The folder that this process's files go to: <dir>/<command>-<pid>[.N].
//
// Where dir= cannot be used, private places of the user's are tried: $XDG_RUNTIME_DIR/jitquill,
// ~/.cache/jitquill, /tmp/jitquill-<uid>. Each folder is told to the `jitquill run` that the process descends
// from, which could not know them by their names.
//
// Context   [life] and under the leaf lock; raw system calls only.
// Promises  folders 0700; files new (never one that exists, never through a link, never in a folder that
//           somebody put in the place of ours), 0600, close-on-exec, on a high descriptor, so that a host
//           which counts on low numbers gets them.
// Does not  make anything before open().
#pragma once

#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "agent/base/folders.hpp"
#include "agent/life/process_start.hpp"
#include "writer/sink/sink.hpp"

namespace jitquill {

class OutputPlace final : public Folder {
 public:
  static constexpr std::size_t kPathSize = 4096;

  // Once, before the host changes what it notes.
  void note_start() noexcept { start_.note(); }

  // Makes the folder: the first free N, and lets `latest` beside it point there. `dir` may hold the words of
  // dir_template.hpp. 0, or -errno: no place takes it.
  int open(std::string_view dir, std::uint32_t pid) noexcept;
  // Why dir= was not used by open(), whether or not another place was; null if it was.
  const char* trouble_with_dir() const noexcept { return trouble_; }

  // A path as dir= may be, with all words put in, absolute; valid until another call. Empty: too long.
  const char* expand(std::string_view path, std::uint32_t pid) noexcept;

  int create(const char* name) noexcept override;
  int open_again(const char* name) noexcept override { return folders::open_file(path(), name); }
  void remove(const char* name) noexcept override;
  // Of the newest folder; unlimited until somebody limits it.
  Budget* budget() noexcept override { return &budget_; }

  // In a child: the folder is the parent's.
  void forget() noexcept;

  // $XDG_RUNTIME_DIR, as it was at the start.
  std::string_view runtime_dir() const noexcept { return start_.runtime_dir(); }
  std::uint64_t process_start_ns() const noexcept { return start_.noted_ns(); }
  // As in the folder's name.
  std::string_view command() const noexcept { return start_.command(); }
  // Absolute; empty before open(). Whole at every moment, also for who does not hold the lock, and for good.
  const char* path() const noexcept override { return path_.load(std::memory_order_acquire); }

 private:
  enum class Noexec { kRefused, kTaken };

  bool compose(std::size_t size, std::initializer_list<std::string_view> parts) noexcept;
  int compose_dir(std::string_view dir, std::uint32_t pid) noexcept;
  int open_below_dir(std::string_view dir, std::uint32_t pid, Noexec noexec) noexcept;
  int open_below_private(std::initializer_list<std::string_view> place, std::uint32_t pid) noexcept;
  int open_below_privates(std::uint32_t pid) noexcept;
  int open_in(std::size_t parent_size, std::uint32_t pid, Noexec noexec) noexcept;
  int make_and_publish(std::size_t parent_size, std::uint32_t pid) noexcept;
  std::uint32_t first_number(std::string_view parent, std::uint32_t pid) const noexcept;
  int open_folder() const noexcept { return folders::open_same(path(), identity_); }
  void tell_run(const char* path, std::size_t size) const noexcept;

  ProcessStart start_;
  std::atomic<const char*> path_{""};
  char composed_[kPathSize] = {};  // paths are put together here: a host's thread may have a stack of 16 KiB
  folders::Identity identity_;     // of the newest folder
  std::uint32_t pid_ = 0;          // of the newest folder
  std::uint32_t next_number_ = 0;  // the first N that may be free there
  const char* trouble_ = nullptr;
  Budget budget_;
};

}  // namespace jitquill
