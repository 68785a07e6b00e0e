// A file that grows by whole groups of records: each group is there entirely or not at all.
//
// Context   one thread at a time (the agent's leaf lock). Raw system calls only.
// Promises  append() is one write of the whole group; what a short write left over follows at once, and if
//           that fails the file is cut back to the end of the last whole group. So the file is readable to
//           its last byte at every moment but inside append(). Where it cannot be cut back it is closed:
//           nothing is ever written behind a torn group, which would hide all that follows.
//           A descriptor that the process closed and uses for another file is neither written to nor closed.
// Does not  buffer, sync, or open. Nor notice a descriptor that changes hands inside append().
#pragma once

#include <cstdint>
#include <span>

#include "writer/bytes/budget.hpp"
#include "writer/bytes/own_descriptor.hpp"
#include "writer/model/status.hpp"

namespace jitquill {

class GroupFile {
 public:
  // Takes over an open file, to grow behind what is there; closes the one it had. `budget`: shared with other
  // files, outlives this one's appends; null = no limit.
  void adopt(int descriptor, Budget* budget = nullptr) noexcept;
  // What the other had, with the size that it had there: the file may have grown since by another process's
  // hand.
  void take(GroupFile& other) noexcept;
  // Another descriptor of the file whose own the process closed: it grows on where it was. False: it is
  // another file's, and the caller's.
  bool take_back(int descriptor) noexcept;
  bool is_open() const noexcept { return descriptor_.number() >= 0; }
  // The descriptor still stands for the file.
  bool is_ours() const noexcept { return descriptor_.is_ours(); }
  int descriptor() const noexcept { return descriptor_.number(); }

  // kFull (the budget), kNoSpace (ENOSPC, EDQUOT, EFBIG) or kWriteFailed (also when closed, or no longer
  // ours): nothing of the group is in the file.
  // The kernel sends SIGXFSZ or SIGPIPE with some errors: the caller blocks them, and append() takes them.
  Status append(std::span<const std::uint8_t> group) noexcept;
  std::uint64_t size() const noexcept { return size_; }

  void close() noexcept { descriptor_.close(); }

 private:
  bool is_at_its_end() noexcept;
  bool cut_back() noexcept;

  OwnDescriptor descriptor_;
  std::uint64_t size_ = 0;
  Budget* budget_ = nullptr;
};

}  // namespace jitquill
