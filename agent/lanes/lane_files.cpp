#include "agent/lanes/lane_files.hpp"

#include <fcntl.h>

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
  const int handle = high(folders::open(path, identity_));
  if (handle < 0) return handle;
  handle_ = handle;
  return 0;
}

void LaneFiles::close() noexcept {
  if (handle_ >= 0) raw::close(handle_);
  handle_ = -1;
}

int LaneFiles::create(const char* name) noexcept {
  return high(raw::open_at(handle_, name, kNewFile, 0600));
}

void LaneFiles::remove(const char* name) noexcept {
  (void)raw::call(SYS_unlinkat, handle_, name, 0);
}

int LaneFiles::open_to_read(const char* name) noexcept {
  return high(raw::open_at(handle_, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC, 0));
}

}  // namespace jitquill::lanes
