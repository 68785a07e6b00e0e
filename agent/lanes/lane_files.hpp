// The files of a lane folder, made and opened through a handle of it.
//
// Context   under the leaf lock; raw system calls only.
// Promises  descriptors are high and close-on-exec.
#pragma once

#include "agent/base/folders.hpp"
#include "writer/sink/sink.hpp"

namespace jitquill::lanes {

class LaneFiles final : public Folder {
 public:
  // A folder of LaneFolder. 0, or -errno.
  int open(const char* path) noexcept;
  void close() noexcept;
  int handle() const noexcept { return handle_; }  // -1 = closed

  int create(const char* name) noexcept override;
  void remove(const char* name) noexcept override;
  // An existing file, to read; -errno.
  int open_to_read(const char* name) noexcept;

 private:
  folders::Identity identity_;
  int handle_ = -1;
};

}  // namespace jitquill::lanes
