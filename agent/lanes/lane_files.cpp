#include "agent/lanes/lane_files.hpp"

#include <fcntl.h>

#include <cerrno>

#include "agent/base/high_descriptor.hpp"
#include "writer/bytes/raw_calls.hpp"

namespace jitquill::lanes {
namespace {

constexpr int kNewFile = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;

int high(int descriptor) noexcept {
  return descriptor < 0 ? descriptor : moved_high(descriptor);
}

}  // namespace

int LaneFiles::open(const char* path) noexcept {
  close();
  folders::Identity any;
  const int handle = high(folders::open(path, any));
  if (handle < 0) return handle;
  handle_.adopt(handle);
  return 0;
}

int LaneFiles::create(const char* name) noexcept {
  if (!handle_.is_ours()) return -EBADF;
  return high(raw::open_at(handle_.number(), name, kNewFile, 0600));
}

void LaneFiles::remove(const char* name) noexcept {
  if (handle_.is_ours()) (void)raw::call(SYS_unlinkat, handle_.number(), name, 0);
}

int LaneFiles::open_to_read(const char* name) noexcept {
  if (!handle_.is_ours()) return -EBADF;
  return high(raw::open_at(handle_.number(), name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC, 0));
}

}  // namespace jitquill::lanes
