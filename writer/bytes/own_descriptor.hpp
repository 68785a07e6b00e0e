// A descriptor that is ours only as long as it stands for the file that it was made for.
//
// Context   one thread at a time. Raw system calls only.
// Promises  one that the process closed and uses for another file is not closed.
// Does not  notice a descriptor that changes hands between is_ours() and what follows.
#pragma once

#include <cstdint>

#include "writer/bytes/raw_calls.hpp"

namespace jitquill {

// Which file a descriptor stood for.
class FileIdentity {
 public:
  void note(int descriptor) noexcept { is_known_ = read(descriptor, device_, inode_); }
  bool is_of(int descriptor) const noexcept {
    std::uint64_t device = 0, inode = 0;
    return is_known_ && read(descriptor, device, inode) && device == device_ && inode == inode_;
  }

 private:
  static bool read(int descriptor, std::uint64_t& device, std::uint64_t& inode) noexcept {
    struct stat status {};
    if (descriptor < 0 || raw::status_of(descriptor, status) != 0) return false;
    device = status.st_dev;
    inode = status.st_ino;
    return true;
  }

  std::uint64_t device_ = 0;
  std::uint64_t inode_ = 0;
  bool is_known_ = false;
};

class OwnDescriptor {
 public:
  OwnDescriptor() noexcept = default;
  ~OwnDescriptor() { close(); }
  OwnDescriptor(const OwnDescriptor&) = delete;
  OwnDescriptor& operator=(const OwnDescriptor&) = delete;

  // Takes over an open one, and closes the one that it had.
  void adopt(int number) noexcept {
    close();
    number_ = number;
    identity_.note(number);
  }
  void take(OwnDescriptor& other) noexcept {
    close();
    number_ = other.number_;
    identity_ = other.identity_;
    other.forget();
  }
  int number() const noexcept { return number_; }  // -1 = none
  bool is_ours() const noexcept { return identity_.is_of(number_); }
  // Whether that one stands for the file that ours stood for.
  bool is_same_file(int other) const noexcept { return identity_.is_of(other); }
  void close() noexcept {
    if (is_ours()) raw::close(number_);
    number_ = -1;
  }
  // It is another's now.
  void forget() noexcept { number_ = -1; }

 private:
  int number_ = -1;
  FileIdentity identity_;
};

}  // namespace jitquill
