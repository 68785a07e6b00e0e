#include "writer/jitdump/records.hpp"

#include <cassert>
#include <limits>

#include "writer/bytes/names.hpp"
#include "writer/unwind/blob.hpp"

namespace jitquill::jitdump {
namespace {

constexpr std::uint32_t kMachineAmd64 = 62;     // EM_X86_64
constexpr std::uint64_t kNanosecondStamps = 0;  // flags: bit 0 would mean CPU counter values
constexpr std::uint32_t kPrefixSize = 16;
[[maybe_unused]] constexpr std::uint32_t kDebugHeadSize = kPrefixSize + 16;
[[maybe_unused]] constexpr std::uint32_t kUnwindingHeadSize = kPrefixSize + 24;
constexpr std::uint32_t kLoadHeadSize = kPrefixSize + 40;
static_assert(kMaxCodeSize + kLoadHeadSize + kMaxNameSize + 1 <= std::numeric_limits<std::uint32_t>::max());

// Puts the prefix of a record; end() fills in the size of what was put since.
class RecordScope {
 public:
  // | id u32 | total_size u32 | timestamp u64 |
  RecordScope(Bytes& out, RecordId id, std::uint64_t when_ns) noexcept : out_(out), start_(out.size()) {
    out.u32(static_cast<std::uint32_t>(id)).u32(0).u64(when_ns);
  }
  RecordScope(const RecordScope&) = delete;
  RecordScope& operator=(const RecordScope&) = delete;

  std::size_t size() const noexcept { return out_.size() - start_; }
  // What was put so far is the record's fixed part.
  bool is_at(std::size_t size_of_head) const noexcept { return out_.failed() || size() == size_of_head; }
  // False: too large for the format, and the record is taken out again.
  [[nodiscard]] bool end() noexcept {
    if (size() > std::numeric_limits<std::uint32_t>::max()) {
      out_.cut(start_);
      return false;
    }
    out_.patch_u32(start_ + 4, static_cast<std::uint32_t>(size()));
    return true;
  }

 private:
  Bytes& out_;
  std::size_t start_;
};

bool are_usable(const CodeLoad& load) noexcept {
  std::uint32_t offset = 0;
  for (const Line& line : load.lines) {
    if (line.offset < offset || line.offset >= load.bytes.size()) return false;
    if (line.file == nullptr && load.file == nullptr) return false;
    offset = line.offset;
  }
  return true;
}

// Puts file names; a name that follows itself, as in most tables, is cleaned and measured only once.
class FileNames {
 public:
  FileNames(Bytes& out, const char* default_file) noexcept : out_(out), default_(default_file) {}
  void put(const char* file) noexcept {
    if (file == nullptr) file = default_;
    const std::size_t at = out_.size();
    if (file == last_) {
      out_.again(last_at_, last_size_);
    } else {
      (void)put_clean(out_, file);
      out_.u8(0);
    }
    last_ = file;
    last_at_ = at;
    last_size_ = out_.size() - at;
  }

 private:
  Bytes& out_;
  const char* default_;
  const char* last_ = nullptr;
  std::size_t last_at_ = 0;
  std::size_t last_size_ = 0;  // with its NUL
};

// | address u64 | line u32 | discriminator u32 | file, NUL |
// The address is where the code runs, without the 0x40 that some writers add for the perf of 2016. Readers
// that show columns take them from the discriminator, which perf ignores.
void put_row(Bytes& out, FileNames& files, std::uint64_t address, const Line& line) noexcept {
  out.u64(address).u32(line.line).u32(line.column);
  files.put(line.file);
}

// | prefix | code_addr u64 | nr_entry u64 | rows |
// The first row is moved to the start of the code, whose first bytes would have no line otherwise. perf ends
// the table at the last row's address: so one more row repeats the last line at the end of the code.
Status put_debug_info(Bytes& out, const CodeLoad& load) noexcept {
  const std::span<const Line> lines = load.lines;
  if (lines.empty()) return Status::kOk;
  if (!are_usable(load)) return Status::kLinesLeftOut;
  RecordScope record(out, RecordId::kCodeDebugInfo, load.when_ns);
  out.u64(load.address);
  const std::size_t count_at = out.size();
  std::uint64_t count = 0;
  out.u64(count);
  assert(record.is_at(kDebugHeadSize));
  FileNames files(out, load.file);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i + 1 < lines.size() && lines[i + 1].offset == lines[i].offset) continue;  // the last one holds
    put_row(out, files, load.address + (count == 0 ? 0 : lines[i].offset), lines[i]);
    ++count;
  }
  put_row(out, files, load.address + load.bytes.size(), lines.back());
  out.patch_u64(count_at, count + 1);
  return record.end() ? Status::kOk : Status::kLinesLeftOut;
}

// | prefix | unwinding_size u64 | eh_frame_hdr_size u64 | mapped_size u64 | .eh_frame | .eh_frame_hdr |
// perf maps mapped_size more bytes behind the code, and its libunwind reads the tables through that map: so
// only where no other code's map can cut into it. `tail` becomes what is mapped, 0 if the room is too small.
Status put_unwinding_info(Bytes& out, const CodeLoad& load, std::uint64_t twin_distance, std::uint64_t room,
                          std::uint32_t& tail) noexcept {
  const std::size_t start = out.size();
  RecordScope record(out, RecordId::kCodeUnwindingInfo, load.when_ns);
  const std::size_t sizes_at = out.size();
  out.u64(0).u64(0).u64(0);  // the three sizes, known after the tables
  assert(record.is_at(kUnwindingHeadSize));
  unwind::BlobSizes sizes;
  const Status status = unwind::put_blob(out, load.unwinding, load.bytes.size(), twin_distance, sizes);
  if (status != Status::kOk || !record.end()) {
    out.cut(start);
    return Status::kUnwindingLeftOut;
  }
  const std::uint64_t needed = unwind::tail_size(load.bytes.size(), sizes);
  const bool is_mapped = load.unwinding.has_rows() && room >= needed;
  tail = is_mapped ? static_cast<std::uint32_t>(needed) : 0;
  out.patch_u64(sizes_at, sizes.total());
  out.patch_u64(sizes_at + 8, sizes.eh_frame_hdr);
  out.patch_u64(sizes_at + 16, is_mapped ? sizes.total() : 0);
  return Status::kOk;
}

// | prefix | pid u32 | tid u32 | vma u64 | code_addr u64 | code_size u64 | code_index u64 | name, NUL | code
// | No padding anywhere: some readers find the code from the front, others from the end.
Status put_load(Bytes& out, const CodeLoad& load, std::uint64_t address, Written& written) noexcept {
  RecordScope record(out, RecordId::kCodeLoad, load.when_ns);
  out.u32(load.pid);
  out.u32(load.tid);
  out.u64(address);
  out.u64(address);
  out.u64(load.bytes.size());
  out.u64(load.index);
  assert(record.is_at(kLoadHeadSize));
  written.name_changed = put_code_name(out, load.name, load.address);
  out.u8(0);
  out.raw(load.bytes);
  return record.end() ? Status::kOk : Status::kTooLarge;
}

// [DEBUG] [UNWINDING] LOAD, where the code is.
Status put_plain_group(Bytes& out, const CodeLoad& load, Written& written) noexcept {
  const Status lines = put_debug_info(out, load);
  Status unwinding = Status::kOk;
  if (load.unwinding.kind != Unwinding::Kind::kUnknown) {
    unwinding = put_unwinding_info(out, load, 0, load.room, written.tail_size);
  }
  written.lines_left_out = lines != Status::kOk;
  written.unwinding_left_out = unwinding != Status::kOk;
  written.unwinding_without_room =
      load.unwinding.has_rows() && unwinding == Status::kOk && written.tail_size == 0;
  const Status code = put_load(out, load, load.address, written);
  if (code != Status::kOk) return code;
  return unwinding != Status::kOk ? unwinding : lines;
}

bool take_twin(const CodeLoad& load, Written& written) noexcept {
  unwind::BlobSizes sizes;
  if (load.twins == nullptr) return false;
  if (unwind::measure_blob(load.unwinding, load.bytes.size(), true, sizes) != Status::kOk) return false;
  written.twin_size = load.bytes.size() + unwind::tail_size(load.bytes.size(), sizes);
  written.twin_address = load.twins->take(load.address, written.twin_size);
  return written.twin_address != 0;
}

// UNWINDING LOAD at the twin, then the group at the code, with one index and the same tables: perf makes one
// file of both, mapped twice. Its libunwind takes the lower place for the tables' base, where their bytes are
// mapped; samples hit the upper one. No lines at the twin, where nothing runs.
Status put_twin_group(Bytes& out, const CodeLoad& load, Written& written) noexcept {
  const std::uint64_t distance = load.address - written.twin_address;
  std::uint32_t tail = 0;
  Status status = put_unwinding_info(out, load, distance, unwind::kAnyRoom, tail);
  if (status == Status::kOk) status = put_load(out, load, written.twin_address, written);
  if (status != Status::kOk) return status;
  const Status lines = put_debug_info(out, load);
  status = put_unwinding_info(out, load, distance, 0, tail);
  if (status == Status::kOk) status = put_load(out, load, load.address, written);
  written.unwinding_without_room = false;
  return status != Status::kOk ? status : lines;
}

}  // namespace

// | magic u32 | version u32 | total_size u32 | elf_mach u32 | pad1 u32 | pid u32 | timestamp u64 | flags u64
// |
void put_header(Bytes& out, const Origin& origin) noexcept {
  [[maybe_unused]] const std::size_t start = out.size();
  out.u32(kMagic);
  out.u32(kVersion);
  out.u32(kHeaderSize);
  out.u32(kMachineAmd64);
  out.u32(0);
  out.u32(origin.pid);
  out.u64(origin.start_ns);
  out.u64(kNanosecondStamps);
  assert(out.failed() || out.size() - start == kHeaderSize);
}

Status put_group(Bytes& out, const CodeLoad& load, Written& written) noexcept {
  if (load.bytes.empty()) return Status::kEmptyCode;
  if (load.bytes.size() > kMaxCodeSize) return Status::kTooLarge;
  const std::size_t start = out.size();
  Status status = put_plain_group(out, load, written);
  if (written.unwinding_without_room && take_twin(load, written)) {
    out.cut(start);
    status = put_twin_group(out, load, written);
  }
  if (out.failed()) status = Status::kNoMemory;
  if (!is_done(status)) out.cut(start);
  return status;
}

void put_close(Bytes& out, std::uint64_t when_ns) noexcept {
  RecordScope record(out, RecordId::kCodeClose, when_ns);
  (void)record.end();
}

}  // namespace jitquill::jitdump
