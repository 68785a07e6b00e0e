// The code lane: what run news names, in the order in which it was announced. The file `code` in the lane
// folder, beside `lanes`.
//
//   header   "JQLCODE2"
//   record   | size u32 | 0 u32 | checksum u64 | kind u8 | 0 u8 | 0 u16 | line u32 | id u64 |
//            | index u64 | when_ns u64 | address u64 | code size u64 | name size u32 | file size u32 |
//            | tables size u32 | offset u32 | header u32 | 0 u32 | name | file | tables |
//
// all in host order, `size` and the checksum's reach being the whole record's and what is behind it.
//
// Context   CodeLane: as at-once sinks, under the leaf lock. CodeLaneReader: [drain], any one thread.
// Promises  a record is one append, made before the announcement returns: so whoever saw a run record that
//           names the code finds it here. The reader never crashes on what somebody else wrote; it stops for
//           good at the first record that is damaged.
// Does not  hold the bytes of code; its unwinding tables only where it is asked to, and up to kMostTables.
#pragma once

#include <cstdint>
#include <string_view>

#include "writer/bytes/bytes.hpp"
#include "writer/bytes/group_file.hpp"
#include "writer/bytes/own_descriptor.hpp"
#include "writer/sink/sink.hpp"

namespace jitquill::lanes {

inline constexpr const char* kCodeFile = "code";

enum class CodeRecordKind : std::uint8_t {
#define CODE_RECORD(name, number, meaning) name = number,
#include "agent/lanes/code_record.def"
#undef CODE_RECORD
};

struct CodeRecord {
  CodeRecordKind kind = CodeRecordKind::kLoad;
  std::uint32_t line = 0;  // of the first instruction; 0 = unknown
  std::uint64_t id = 0;    // of CodeLoad, or of a function without code: one number space
  std::uint64_t index = 0;
  std::uint64_t when_ns = 0;
  std::uint64_t address = 0;  // 0 = it has no code
  std::uint64_t size = 0;
  std::string_view name{};
  std::string_view file{};
  // Its .eh_frame and .eh_frame_hdr (writer/unwind/blob.hpp), made for the place that many bytes behind the
  // code's first one; the header begins at `tables_header` in them.
  std::span<const std::uint8_t> tables{};
  std::uint32_t tables_offset = 0;
  std::uint32_t tables_header = 0;
};

// No row of the table of sinks: whoever opens run news calls it beside them.
class CodeLane final : public Sink {
 public:
  // The file goes into `outlets.folder`: the lane folder.
  Status begin(const Origin& origin, const Outlets& outlets) noexcept override;
  // Unwinding tables, too: for who walks call stacks.
  void keep_tables() noexcept { keeps_tables_ = true; }
  // First: all that another's file had when it was taken from it. kNotFound: the process has closed that
  // meanwhile.
  Status put_all_of(const GroupFile& before) noexcept;
  // In a child: what it inherited lives on in it.
  void hand_on(GroupFile& to) noexcept { to.take(file_); }
  Status load(const CodeLoad& load, Written& written) noexcept override;
  Status move(const CodeMove& move, Written& written) noexcept override;
  Status unload(const CodeUnload& unload) noexcept override;
  // A function without code, named by jitquill_enter().
  Status function(std::uint64_t id, std::string_view name, std::string_view file,
                  std::uint32_t line) noexcept;
  Status end(std::uint64_t when_ns) noexcept override;
  void abandon() noexcept override { file_.close(); }
  // Its file is in no output folder: a full one is none of its business.
  bool is_in_memory() const noexcept override { return true; }

 private:
  static constexpr std::size_t kMostTables = 32 * 1024;

  Status append(const CodeRecord& record, bool* name_changed = nullptr) noexcept;
  void put_tables(const CodeLoad& load, CodeRecord& record) noexcept;

  GroupFile file_;
  Bytes record_;
  Bytes tables_;
  bool keeps_tables_ = false;
};

class CodeLaneReader {
 public:
  enum class Next { kRecord, kNothingYet, kBroken };

  CodeLaneReader() noexcept = default;
  ~CodeLaneReader();
  CodeLaneReader(const CodeLaneReader&) = delete;
  CodeLaneReader& operator=(const CodeLaneReader&) = delete;

  // Takes the descriptor over, and begins at the first record.
  bool open(int descriptor) noexcept;
  void close() noexcept { descriptor_.close(); }
  // The record's texts are valid until the next call of either. kNothingYet: ask again after news.
  Next next(CodeRecord& record) noexcept;
  // Where the record that next() answered last begins, for read_at().
  std::uint64_t last_at() const noexcept { return last_at_; }
  // Up to which next() has read.
  std::uint64_t read_to() const noexcept { return at_; }
  bool read_at(std::uint64_t at, CodeRecord& record) noexcept;
  // As next(), from `at` on, which is moved behind the record: for a walk of the caller's own, from kFirstAt.
  static constexpr std::uint64_t kFirstAt = 8;
  Next next_from(std::uint64_t& at, CodeRecord& record) noexcept;

 private:
  struct Found {
    Next what;
    std::uint64_t size;
  };
  Found look(std::uint64_t at, CodeRecord& record) noexcept;
  const std::uint8_t* bytes_at(std::uint64_t at, std::size_t size) noexcept;

  OwnDescriptor descriptor_;
  std::uint8_t* buffer_ = nullptr;
  std::uint64_t buffer_at_ = 0;
  std::size_t buffered_ = 0;
  std::uint64_t at_ = 0;
  std::uint64_t last_at_ = 0;
  bool is_broken_ = false;
};

}  // namespace jitquill::lanes
