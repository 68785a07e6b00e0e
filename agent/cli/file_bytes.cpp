#include "agent/cli/file_bytes.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <new>
#include <stdexcept>

#include "agent/cli/words.hpp"

namespace jitquill::cli {
namespace {

// Regular files only: a pipe has no end that one could wait for.
int read_all(int file, std::vector<std::uint8_t>& bytes) {
  struct stat status {};
  if (::fstat(file, &status) != 0) return errno;
  if (S_ISDIR(status.st_mode)) return EISDIR;
  if (!S_ISREG(status.st_mode)) return EINVAL;
  bytes.resize(static_cast<std::size_t>(status.st_size) + 1);  // files of /proc say 0
  std::size_t have = 0;
  for (;;) {
    if (have == bytes.size()) bytes.resize(2 * have);
    const ssize_t size = ::read(file, bytes.data() + have, bytes.size() - have);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return errno;
    if (size == 0) break;
    have += static_cast<std::size_t>(size);
  }
  bytes.resize(have);
  return 0;
}

}  // namespace

FileBytes::FileBytes(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) {
    error_ = errno;
    return;
  }
  try {
    error_ = read_all(file, bytes_);
  } catch (const std::bad_alloc&) {
    error_ = ENOMEM;
  } catch (const std::length_error&) {
    error_ = EFBIG;
  }
  ::close(file);
}

std::string FileBytes::trouble() const {
  if (error_ == EINVAL) return "a pipe or a device, and not a file; put its bytes into one first";
  return error_ == 0 ? "" : error_text(error_);
}

}  // namespace jitquill::cli
