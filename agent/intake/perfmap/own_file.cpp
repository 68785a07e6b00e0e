#include "agent/intake/perfmap/own_file.hpp"

#include <fcntl.h>

#include "agent/base/high_descriptor.hpp"
#include "writer/bytes/raw_calls.hpp"

namespace jitquill::intake::perfmap {

bool OwnFile::open(const char* path) noexcept {
  close();
  const int opened = raw::open_at(AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
  if (opened < 0) return false;
  descriptor_ = moved_high(opened);
  struct stat file;
  if (!is_open() || !status(file)) return false;
  device_ = file.st_dev;
  inode_ = file.st_ino;
  if (S_ISREG(file.st_mode)) return true;
  close();
  return false;
}

void OwnFile::close() noexcept {
  if (is_still_ours()) raw::close(descriptor_);
  descriptor_ = -1;
}

bool OwnFile::status(struct stat& status) const noexcept {
  return is_open() && raw::status_of(descriptor_, status) == 0;
}

bool OwnFile::is_still_ours() const noexcept {
  struct stat file;
  return status(file) && file.st_dev == device_ && file.st_ino == inode_;
}

std::uint64_t OwnFile::size() const noexcept {
  struct stat file;
  return status(file) ? static_cast<std::uint64_t>(file.st_size) : 0;
}

}  // namespace jitquill::intake::perfmap
