// The files of a lane folder, made and opened through a handle of it.
//
// Context   under the leaf lock; raw system calls only.
// Promises  descriptors are high and close-on-exec. A handle that the process closed and uses for another
//           file is neither closed nor made files in.
#pragma once

#include "agent/base/folders.hpp"
#include "writer/bytes/own_descriptor.hpp"
#include "writer/sink/sink.hpp"

namespace jitquill::lanes {

class LaneFiles final : public Folder {
 public:
  // A folder of LaneFolder. 0, or -errno.
  int open(const char* path) noexcept;
  void close() noexcept { handle_.close(); }
  int handle() const noexcept { return handle_.number(); }  // -1 = closed

  int create(const char* name) noexcept override;
  void remove(const char* name) noexcept override;
  // An existing file, to read; -errno.
  int open_to_read(const char* name) noexcept;

 private:
  OwnDescriptor handle_;
};

}  // namespace jitquill::lanes
