#include "agent/lanes/code_lane.hpp"

#include <algorithm>
#include <new>

#include "agent/base/checksum.hpp"
#include "agent/base/counters.hpp"
#include "writer/bytes/byte_source.hpp"
#include "writer/bytes/names.hpp"
#include "writer/bytes/raw_calls.hpp"
#include "writer/sink/process_file.hpp"
#include "writer/unwind/blob.hpp"

namespace jitquill::lanes {
namespace {

constexpr std::string_view kMagic = "JQLCODE2";
static_assert(kMagic.size() == CodeLaneReader::kFirstAt);
constexpr std::size_t kChecksumAt = 8;
constexpr std::size_t kChecked = 16;  // where what it covers begins
constexpr std::size_t kHeadSize = 88;
constexpr std::size_t kNameSizeAt = 64;
constexpr std::size_t kBufferSize = 64 * 1024;
constexpr std::size_t kMostSize = kBufferSize;

// True if its name had to be changed.
bool put(Bytes& out, const CodeRecord& record) noexcept {
  out.u32(0).u32(0).u64(0);  // size, nothing, checksum
  out.u8(static_cast<std::uint8_t>(record.kind)).u8(0).u16(0).u32(record.line);
  out.u64(record.id).u64(record.index).u64(record.when_ns).u64(record.address).u64(record.size);
  out.u32(0).u32(0).u32(static_cast<std::uint32_t>(record.tables.size()));  // sizes of name and file
  out.u32(record.tables_offset).u32(record.tables_header).u32(0);
  const bool is_changed = put_clean(out, record.name);
  const std::size_t name_end = out.size();
  (void)put_clean(out, record.file);
  if (out.failed()) return is_changed;
  out.patch_u32(kNameSizeAt, static_cast<std::uint32_t>(name_end - kHeadSize));
  out.patch_u32(kNameSizeAt + 4, static_cast<std::uint32_t>(out.size() - name_end));
  out.raw(record.tables);
  out.patch_u32(0, static_cast<std::uint32_t>(out.size()));
  out.patch_u64(kChecksumAt, checksum_of(out.view().subspan(kChecked)));
  return is_changed;
}

bool is_known(std::uint8_t kind) noexcept {
  switch (static_cast<CodeRecordKind>(kind)) {
#define CODE_RECORD(name, number, meaning) case CodeRecordKind::name:
#include "agent/lanes/code_record.def"
#undef CODE_RECORD
    return true;
  }
  return false;
}

// Of a whole record whose checksum agrees.
bool parse(std::span<const std::uint8_t> bytes, CodeRecord& record) noexcept {
  ByteSource source(bytes.subspan(kChecked));
  const std::uint8_t kind = source.u8();
  (void)source.raw(3);
  record.kind = static_cast<CodeRecordKind>(kind);
  record.line = source.u32();
  record.id = source.u64();
  record.index = source.u64();
  record.when_ns = source.u64();
  record.address = source.u64();
  record.size = source.u64();
  const std::uint32_t name_size = source.u32();
  const std::uint32_t file_size = source.u32();
  const std::uint32_t tables_size = source.u32();
  record.tables_offset = source.u32();
  record.tables_header = source.u32();
  (void)source.u32();
  record.name = source.text(name_size);
  record.file = source.text(file_size);
  record.tables = source.raw(tables_size);
  return is_known(kind) && !source.failed() && source.is_at_end();
}

const char* file_of(const CodeLoad& load) noexcept {
  const char* const own = load.lines.empty() ? nullptr : load.lines[0].file;
  const char* const file = own != nullptr ? own : load.file;
  return file != nullptr ? file : "";
}

}  // namespace

Status CodeLane::begin(const Origin&, const Outlets& outlets) noexcept {
  abandon();
  if (const Status made = make_file(outlets.folder, kCodeFile, file_); made != Status::kOk) return made;
  return file_.append({reinterpret_cast<const std::uint8_t*>(kMagic.data()), kMagic.size()});
}

Status CodeLane::put_all_of(const GroupFile& before) noexcept {
  if (!before.is_ours()) return Status::kNotFound;
  std::uint64_t at = kMagic.size();
  while (at < before.size()) {
    const std::uint64_t most = std::min<std::uint64_t>(before.size() - at, kBufferSize);
    record_.clear();
    std::uint8_t* const room = record_.reserve(most);
    if (room == nullptr) return Status::kNoMemory;
    const long count = raw::call(SYS_pread64, before.descriptor(), room, most, static_cast<long>(at));
    if (count <= 0) return Status::kWriteFailed;
    const std::span<const std::uint8_t> piece(room, static_cast<std::size_t>(count));
    if (const Status put = file_.append(piece); put != Status::kOk) return put;
    at += piece.size();
  }
  return Status::kOk;
}

Status CodeLane::append(const CodeRecord& record, bool* name_changed) noexcept {
  record_.clear();
  const bool is_changed = put(record_, record);
  if (name_changed != nullptr && is_changed) *name_changed = true;
  return record_.failed() ? Status::kNoMemory : file_.append(record_.view());
}

// None, where nothing is known of its frames, or they are not as they should be.
void CodeLane::put_tables(const CodeLoad& load, CodeRecord& record) noexcept {
  tables_.clear();
  unwind::BlobSizes sizes;
  const bool is_known = load.unwinding.has_rows() || load.unwinding.kind == Unwinding::Kind::kFramePointers;
  const bool is_put =
      is_known && unwind::put_blob(tables_, load.unwinding, load.bytes.size(), 0, sizes) == Status::kOk;
  if (!is_put || tables_.size() > kMostTables) return;
  record.tables = tables_.view();
  record.tables_offset = static_cast<std::uint32_t>(unwind::eh_frame_offset(load.bytes.size()));
  record.tables_header = sizes.eh_frame;
}

Status CodeLane::load(const CodeLoad& load, Written& written) noexcept {
  CodeRecord record{.kind = CodeRecordKind::kLoad,
                    .line = load.lines.empty() ? 0 : load.lines[0].line,
                    .id = load.id,
                    .index = load.index,
                    .when_ns = load.when_ns,
                    .address = load.address,
                    .size = load.bytes.size(),
                    .name = load.name,
                    .file = file_of(load)};
  if (keeps_tables_) put_tables(load, record);
  return append(record, &written.name_changed);
}

Status CodeLane::move(const CodeMove& move, Written&) noexcept {
  return append({.kind = CodeRecordKind::kMove,
                 .id = move.id,
                 .index = move.index,
                 .when_ns = move.when_ns,
                 .address = move.to,
                 .size = move.size,
                 .name = move.name});
}

Status CodeLane::unload(const CodeUnload& unload) noexcept {
  return append({.kind = CodeRecordKind::kUnload,
                 .id = unload.id,
                 .when_ns = unload.when_ns,
                 .address = unload.address,
                 .size = unload.size});
}

Status CodeLane::function(std::uint64_t id, std::string_view name, std::string_view file,
                          std::uint32_t line) noexcept {
  bool is_changed = false;
  const Status put = append(
      {.kind = CodeRecordKind::kFunction, .line = line, .id = id, .name = name, .file = file}, &is_changed);
  if (is_changed) count(Counter::names_changed);
  return put;
}

Status CodeLane::end(std::uint64_t) noexcept {
  abandon();
  return Status::kOk;
}

CodeLaneReader::~CodeLaneReader() {
  ::operator delete(buffer_);
}

bool CodeLaneReader::open(int descriptor) noexcept {
  descriptor_.adopt(descriptor);
  buffer_ = static_cast<std::uint8_t*>(::operator new(kBufferSize, std::nothrow));
  if (buffer_ == nullptr) return false;
  const std::uint8_t* const magic = bytes_at(0, kMagic.size());
  is_broken_ = magic == nullptr || std::memcmp(magic, kMagic.data(), kMagic.size()) != 0;
  at_ = kMagic.size();
  return !is_broken_;
}

// Null: they are not in the file.
const std::uint8_t* CodeLaneReader::bytes_at(std::uint64_t at, std::size_t size) noexcept {
  const bool is_here =
      at >= buffer_at_ && at - buffer_at_ <= buffered_ && buffered_ - (at - buffer_at_) >= size;
  if (!is_here) {
    if (!descriptor_.is_ours()) return nullptr;
    const long count =
        raw::call(SYS_pread64, descriptor_.number(), buffer_, kBufferSize, static_cast<long>(at));
    buffer_at_ = at;
    buffered_ = count > 0 ? static_cast<std::size_t>(count) : 0;
    if (buffered_ < size) return nullptr;
  }
  return buffer_ + (at - buffer_at_);
}

CodeLaneReader::Found CodeLaneReader::look(std::uint64_t at, CodeRecord& record) noexcept {
  const std::uint8_t* bytes = bytes_at(at, kHeadSize);
  if (bytes == nullptr) return {Next::kNothingYet, 0};
  ByteSource head({bytes, kChecked});
  const std::uint32_t size = head.u32();
  const std::uint32_t nothing = head.u32();
  const std::uint64_t checksum = head.u64();
  if (size < kHeadSize || size > kMostSize || nothing != 0) return {Next::kBroken, 0};
  bytes = bytes_at(at, size);
  if (bytes == nullptr) return {Next::kNothingYet, 0};  // its writer was killed in the middle
  const bool is_whole =
      checksum_of({bytes + kChecked, size - kChecked}) == checksum && parse({bytes, size}, record);
  return {is_whole ? Next::kRecord : Next::kBroken, size};
}

CodeLaneReader::Next CodeLaneReader::next(CodeRecord& record) noexcept {
  if (is_broken_) return Next::kBroken;
  const Found found = look(at_, record);
  is_broken_ = found.what == Next::kBroken;
  if (found.what != Next::kRecord) return found.what;
  last_at_ = at_;
  at_ += found.size;
  return Next::kRecord;
}

CodeLaneReader::Next CodeLaneReader::next_from(std::uint64_t& at, CodeRecord& record) noexcept {
  if (buffer_ == nullptr) return Next::kNothingYet;
  const Found found = look(at, record);
  if (found.what == Next::kRecord) at += found.size;
  return found.what;
}

bool CodeLaneReader::read_at(std::uint64_t at, CodeRecord& record) noexcept {
  return look(at, record).what == Next::kRecord;
}

}  // namespace jitquill::lanes
