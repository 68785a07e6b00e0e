// The file of a sink of run news, and those that follow it where it may not be larger.
//
// They lie in the folder that the first was made in, whatever folder is the newest: <name>, then, if that is
// a.b, a.2.b and so on.
//
// Context   [drain]; `jitquill recover`. Any one thread.
// Promises  as GroupFile. A file whose descriptor the process closed is opened again. Where no other can be
//           made it goes on in the one that there is, without a limit.
// Does not  know what is in them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "agent/base/fixed_text.hpp"
#include "agent/base/folders.hpp"
#include "writer/bytes/byte_source.hpp"
#include "writer/bytes/bytes.hpp"
#include "writer/bytes/group_file.hpp"
#include "writer/sink/sink.hpp"

namespace jitquill::drain {

using FileName = FixedText<64>;
// `file` as sinks.def has it: behind the command where it begins with a point; where that is too long, alone.
FileName file_name(std::string_view command, const char* file) noexcept;

struct FileLimits {
  std::uint64_t bytes = 0;  // of a file; 0 = none
  std::uint32_t kept = 0;   // the newest of the files; 0 = all
};

class RunFile {
 public:
  // It has none; of what goes elsewhere.
  void name(const FileName& name) noexcept { first_ = name; }
  // The first.
  Status create(Folder& folder, const FileName& name) noexcept;
  void limit(const FileLimits& limits) noexcept { limits_ = limits; }
  // After apply(): the one that is there, cut to what was committed; those behind it go.
  bool resume(Folder& folder) noexcept;
  void close() noexcept { file_.close(); }

  Status append(std::span<const std::uint8_t> bytes) noexcept;
  // What was appended so far stays after a kill, as soon as the journal has put().
  void commit() noexcept { committed_ = size_; }
  bool is_committed() const noexcept { return committed_ == size_; }
  // In all files.
  std::uint64_t bytes() const noexcept { return before_ + size_; }

  bool is_limited() const noexcept { return limits_.bytes != 0; }
  // Behind what is to be appended so many bytes more would be beyond the limit. What it began with may be
  // more than half of that, and then half of it is left for the rest.
  bool is_full_with(std::size_t to_append, std::size_t more) const noexcept;
  // The next file is made, and begun by go_on(), which lets go of this one.
  bool make_next() noexcept;
  void go_on() noexcept;
  // Those that are too many, when the journal names none of them.
  void remove_old() noexcept;
  void began_with(std::size_t bytes) noexcept { start_size_ = bytes; }

  // | name | limit | kept | number | start | before | committed |, numbers as uleb128.
  void put(Bytes& state) const noexcept;
  bool apply(ByteSource& state) noexcept;

 private:
  FileName name_of(std::uint32_t number) const noexcept;
  bool open_again() noexcept;
  void remove(std::uint32_t number) noexcept;

  GroupFile file_;
  GroupFile next_;
  FileName first_;
  FileLimits limits_;
  std::uint32_t number_ = 1;
  std::uint32_t oldest_ = 1;
  std::uint64_t start_size_ = 0;
  std::uint64_t size_ = 0;
  std::uint64_t committed_ = 0;
  std::uint64_t before_ = 0;  // in the files before
  const char* path_ = "";     // of their folder
  folders::Identity folder_;
  Folder* before_us_ = nullptr;  // instead, of a process that is gone
};

}  // namespace jitquill::drain
