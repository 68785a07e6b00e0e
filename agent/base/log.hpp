// Messages for the user: into a file of the output folder, made at the first one; on stderr only if asked
// for.
//
// Context   [life] and under the leaf lock; raw system calls only.
// Promises  nothing on the host's stdout, ever. A message that cannot be written is dropped; its counter
//           stands anyway.
#pragma once

#include <cstdint>
#include <string_view>

#include "writer/bytes/group_file.hpp"
#include "writer/model/status.hpp"
#include "writer/sink/sink.hpp"

namespace jitquill {

// Straight to stderr: for option errors and help, before there is a folder.
void say_on_stderr(std::uint32_t pid, std::string_view words) noexcept;
// When the agent is loaded. A process that begins without stderr, or closes it, gives that number to a file
// of its own: nothing is ever said there, nor where it would have to be waited for.
void note_standard_error() noexcept;

class Log {
 public:
  // `name` empty: no file. `folder` and `name` must outlive the log.
  void open(Folder& folder, const char* name, bool verbose, std::uint32_t pid) noexcept;

  // One line; the cause, then the cure. False: the file could not take it.
  bool say(std::string_view words) noexcept;
  // Of an output that ended: on stderr where the file cannot take it, as on a disk that is full. Not where no
  // file is wanted.
  void say_for_sure(std::string_view words) noexcept;
  // Once per status: later cases are only counted.
  void say_once(Status status, std::string_view what) noexcept;

  void close() noexcept;  // also in a child, whose parent's file it is
  // In a child whose memory cannot be trusted.
  void forget() noexcept {
    file_ = nullptr;
    folder_ = nullptr;
  }

 private:
  bool make_file() noexcept;

  Folder* folder_ = nullptr;
  const char* name_ = "";
  GroupFile* file_ = nullptr;  // no member: the agent, whose member we are, must have no destructor to run
  std::uint32_t pid_ = 0;
  bool verbose_ = false;
  bool file_failed_ = false;
  std::uint64_t said_ = 0;  // bit per status
};

}  // namespace jitquill
