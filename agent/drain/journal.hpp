// What was committed: the file `journal` in the lane folder.
//
//   header   "JQLJRNL3"
//   record   | size u32 | kind u8 | 0 u8 | 0 u16 | sequence u64 | checksum u64 | payload |
//
// in host order; `size` is the whole record's, the checksum covers kind, sequence and payload. The first
// record is a whole state, the others are what changed since. A file that has grown too long is replaced by a
// new one with one whole state: at every moment there is a file that says all.
//
// Context   [drain]; `jitquill recover`.
// Promises  append() is one write: a process that is killed in it leaves a record that fold() does not take.
//           fold() answers all records up to the last whole one, and never crashes on what is behind.
// Does not  sync: it outlives a process, not a machine.
#pragma once

#include <cstdint>
#include <span>

#include "writer/bytes/bytes.hpp"
#include "writer/bytes/group_file.hpp"
#include "writer/bytes/own_descriptor.hpp"
#include "writer/model/status.hpp"

namespace jitquill::drain {

class Journal {
 public:
  static constexpr const char* kFileName = "journal";
  static constexpr std::uint64_t kMostBytes = std::uint64_t{16} << 20;

  // `folder`: a directory's descriptor, which stays the caller's. Where it is another file's later, replace()
  // opens `path`, if that is the same directory, and fails otherwise. Null: it has none.
  void open(int folder, const char* path = nullptr) noexcept {
    folder_ = folder;
    path_ = path;
    folder_identity_.note(folder);
  }

  void close() noexcept {
    file_.close();
    own_folder_.close();
  }

  // A new file with this state in it, in place of the one before.
  Status replace(std::span<const std::uint8_t> whole) noexcept;
  // What changed. After a failure the next must be replace().
  Status append(std::span<const std::uint8_t> changes) noexcept;
  bool is_too_long() const noexcept { return file_.size() > kMostBytes && file_.size() > 4 * whole_size_; }

  // The file that is there: take(is whole state, payload) of each record, until it answers false. Then what
  // is behind the last is cut off, and append() goes on. False: there is none, or it has no state in it.
  template <class Take>
  bool fold(Take take) noexcept {
    std::uint64_t at = open_file();
    if (at == 0) return false;
    Bytes record;
    bool has_state = false;
    while (const std::uint64_t size = read_record(at, record)) {
      const bool is_whole = !has_state;
      if (!take(is_whole, record.view().subspan(kHeadSize))) break;
      if (is_whole) whole_size_ = size;
      has_state = true;
      at += size;
      ++sequence_;
    }
    return continue_at(at) && has_state;
  }

  std::uint64_t sequence() const noexcept { return sequence_; }  // of the next record

 private:
  static constexpr std::size_t kHeadSize = 24;

  bool has_folder() noexcept;
  bool put_record(bool is_whole, std::span<const std::uint8_t> payload) noexcept;
  std::uint64_t open_file() noexcept;
  std::uint64_t read_record(std::uint64_t at, Bytes& record) noexcept;
  bool continue_at(std::uint64_t at) noexcept;

  int folder_ = -1;
  const char* path_ = nullptr;
  OwnDescriptor own_folder_;                // if the other was closed
  jitquill::FileIdentity folder_identity_;  // not that of symbol_table.hpp
  GroupFile file_;
  Bytes record_;
  std::uint64_t sequence_ = 0;
  std::uint64_t whole_size_ = 0;
};

}  // namespace jitquill::drain
