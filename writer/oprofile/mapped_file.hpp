// A file in memory that is shared with it, all of whose blocks are there: a store into it never waits for the
// disk's free space, and is in the file when its process is killed at the next instruction.
//
// Context   one thread at a time. Raw system calls only.
// Promises  a failed call leaves the file as it was. A descriptor that the process closed and uses for
//           another file is neither enlarged nor closed.
// Does not  survive a crash of the machine: nothing is synced.
#pragma once

#include <cstddef>
#include <cstdint>

#include "writer/bytes/own_descriptor.hpp"
#include "writer/model/status.hpp"

namespace jitquill {

class MappedFile {
 public:
  MappedFile() noexcept = default;
  ~MappedFile() { close(); }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  // Takes over an open, empty file, for reading and writing, and gives it `size` bytes of zero.
  Status open(int descriptor, std::size_t size) noexcept;
  // Takes over an open file with something in it, as it is. kBadArgument: there is nothing in it.
  Status open_again(int descriptor) noexcept;
  // Moves data(). kNoSpace, kNoMemory, kWriteFailed (also if the descriptor is no longer ours). The kernel
  // sends SIGXFSZ with some errors: the caller blocks it.
  Status enlarge(std::size_t size) noexcept;
  // Gives back what is behind the first `size` bytes. They stay readable in memory.
  Status cut(std::size_t size) noexcept;
  void close() noexcept;

  // A child of fork will not have the memory: it cannot let go of it while another thread of its parent's
  // moved it.
  void hide_from_children() noexcept;
  // In such a child.
  void forget() noexcept;

  // Another descriptor of the file, whose own the process closed. False: it is another file's, and the
  // caller's.
  bool take_back(int descriptor) noexcept;

  bool is_open() const noexcept { return data_ != nullptr; }
  std::uint8_t* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }

 private:
  Status take_blocks(std::size_t size) noexcept;
  Status map(std::size_t size) noexcept;

  OwnDescriptor descriptor_;
  std::uint8_t* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace jitquill
