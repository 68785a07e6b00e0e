// /tmp, where perf looks for maps by their name alone: so what stands there already is looked at before it is
// touched, and where the name is taken the map goes elsewhere.
//
// Context   [life] and under the leaf lock; raw system calls only.
// Promises  a file is new (never through a link), 0600, close-on-exec, on a high descriptor; or the one that
//           it made for this process before, to be continued. Taken away is only what an earlier process
//           of this number left: a plain file of our user, with one name, older than this process.
// Does not  take away at the end what has a line: perf reads the map when the process is gone.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>

#include "agent/base/log.hpp"
#include "writer/sink/sink.hpp"

namespace jitquill {

class PerfMapPlace final : public Folder {
 public:
  constexpr explicit PerfMapPlace(const char* folder = "/tmp") noexcept : folder_(folder) {}

  // Says into `log` why a file cannot be made here, and makes it in `instead`; null: then there is none.
  void open(Log& log, Folder* instead) noexcept;

  int create(const char* name) noexcept override;
  void remove(const char* name) noexcept override;
  bool remove_empty(const char* name) noexcept override;
  // /tmp has none: what is there goes on when the output folder changes.
  Budget* budget() noexcept override {
    return is_here_ || instead_ == nullptr ? nullptr : instead_->budget();
  }

 private:
  // What has the name already. say_why() has the words.
  enum class Found : std::uint8_t { kNothing, kOurs, kStale, kYoung, kForeign };

  int create_here() noexcept;
  int create_new() noexcept;
  int continue_ours() noexcept;
  void take_away() noexcept;
  Found look() const noexcept;
  bool is_ours(const struct stat& status) const noexcept;
  void say_why(int error) noexcept;

  static constexpr std::size_t kPathSize = 256;

  const char* folder_;
  Log* log_ = nullptr;
  Folder* instead_ = nullptr;
  char path_[kPathSize] = {};
  std::uint64_t device_ = 0;  // with the inode: the newest file that was made here
  std::uint64_t inode_ = 0;
  bool is_here_ = false;  // not made instead
};

}  // namespace jitquill
