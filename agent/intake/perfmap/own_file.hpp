// A file that we keep open for reading, in a host that may close descriptors which it does not know and get
// their numbers for files of its own.
//
// Opened once, on the host's thread: a thread of ours that opened and closed would now and then take the
// lowest free number from a host that counts on it.
//
// Context   [notify], under the intakes' lock; raw system calls only.
#pragma once

#include <sys/stat.h>

#include <cstdint>

namespace jitquill::intake::perfmap {

class OwnFile {
 public:
  bool open(const char* path) noexcept;
  void close() noexcept;

  bool is_open() const noexcept { return descriptor_ >= 0; }
  bool is_still_ours() const noexcept;
  int descriptor() const noexcept { return descriptor_; }
  std::uint64_t size() const noexcept;  // 0 if it cannot be asked for

 private:
  bool status(struct stat& status) const noexcept;

  int descriptor_ = -1;
  std::uint64_t device_ = 0;
  std::uint64_t inode_ = 0;
};

}  // namespace jitquill::intake::perfmap
