#include "agent/drain/journal.hpp"

#include <fcntl.h>

#include "agent/base/checksum.hpp"
#include "agent/base/folders.hpp"
#include "agent/base/high_descriptor.hpp"
#include "writer/bytes/byte_source.hpp"
#include "writer/bytes/raw_calls.hpp"

namespace jitquill::drain {
namespace {

constexpr std::string_view kMagic = "JQLJRNL3";
constexpr const char* kNextName = "journal.new";
constexpr std::size_t kChecksumAt = 16;
constexpr std::uint8_t kWhole = 1;
constexpr std::uint8_t kChanges = 2;

std::span<const std::uint8_t> magic() noexcept {
  return {reinterpret_cast<const std::uint8_t*>(kMagic.data()), kMagic.size()};
}

// Of the record with 0 in place of its checksum.
std::uint64_t checksum_without_field(std::span<const std::uint8_t> record) noexcept {
  return checksum_of(record.subspan(kChecksumAt + 8)) ^ checksum_of(record.first(kChecksumAt)) * 3;
}

}  // namespace

bool Journal::put_record(bool is_whole, std::span<const std::uint8_t> payload) noexcept {
  const std::size_t start = record_.size();
  record_.u32(static_cast<std::uint32_t>(kHeadSize + payload.size()))
      .u8(is_whole ? kWhole : kChanges)
      .u8(0)
      .u16(0);
  record_.u64(sequence_).u64(0).raw(payload);
  if (record_.failed() || payload.size() > 0xFFFFFFFF - kHeadSize) return false;
  record_.patch_u64(start + kChecksumAt, checksum_without_field(record_.view().subspan(start)));
  return true;
}

bool Journal::has_folder() noexcept {
  if (folder_identity_.is_of(folder_)) return true;
  if (path_ == nullptr) return false;
  folders::Identity any;
  const int opened = folders::open(path_, any);
  const int again = opened < 0 ? opened : moved_high(opened);
  if (!folder_identity_.is_of(again)) {
    if (again >= 0) raw::close(again);
    return false;
  }
  own_folder_.adopt(again);
  folder_ = again;
  return true;
}

Status Journal::replace(std::span<const std::uint8_t> whole) noexcept {
  record_.clear();
  record_.raw(magic());
  if (!put_record(true, whole)) return Status::kNoMemory;
  if (!has_folder()) return Status::kNoOutput;
  const int made =
      raw::open_at(folder_, kNextName, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (made < 0) return Status::kNoOutput;
  GroupFile next;
  const int descriptor = moved_high(made);
  next.adopt(descriptor);
  if (const Status written = next.append(record_.view()); written != Status::kOk) return written;
  const long renamed = raw::call(SYS_renameat, folder_, kNextName, folder_, kFileName);
  if (renamed < 0) return Status::kWriteFailed;
  file_.close();
  file_.adopt(static_cast<int>(raw::call(SYS_fcntl, descriptor, F_DUPFD_CLOEXEC, descriptor)));
  whole_size_ = file_.size();
  ++sequence_;
  return file_.is_open() ? Status::kOk : Status::kWriteFailed;
}

Status Journal::append(std::span<const std::uint8_t> changes) noexcept {
  record_.clear();
  if (!put_record(false, changes)) return Status::kNoMemory;
  const Status status = file_.append(record_.view());
  if (status == Status::kOk) ++sequence_;
  return status;
}

// Where its first record is; 0: there is no file.
std::uint64_t Journal::open_file() noexcept {
  sequence_ = whole_size_ = 0;
  const int opened = raw::open_at(folder_, kFileName, O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0);
  if (opened < 0) return 0;
  file_.adopt(opened);
  std::uint8_t found[8];
  const long size = raw::call(SYS_pread64, opened, found, sizeof found, 0L);
  return size == sizeof found && std::memcmp(found, kMagic.data(), sizeof found) == 0 ? sizeof found : 0;
}

// Its size; 0: it is not whole, or not the next.
std::uint64_t Journal::read_record(std::uint64_t at, Bytes& record) noexcept {
  std::uint8_t head[kHeadSize];
  const int descriptor = file_.descriptor();
  if (raw::call(SYS_pread64, descriptor, head, sizeof head, static_cast<long>(at)) != sizeof head) return 0;
  ByteSource fields(head);
  const std::uint32_t size = fields.u32();
  const std::uint8_t kind = fields.u8();
  (void)fields.raw(3);
  const std::uint64_t sequence = fields.u64();
  const std::uint64_t checksum = fields.u64();
  if (size < kHeadSize || size > file_.size() - at) return 0;
  record.clear();
  std::uint8_t* const room = record.reserve(size);
  if (room == nullptr) return 0;
  if (raw::call(SYS_pread64, descriptor, room, std::size_t{size}, static_cast<long>(at)) != size) return 0;
  record.put_up_to(Cursor(room + size));
  const bool is_first = at == kMagic.size();
  const bool is_next = is_first ? kind == kWhole : kind == kChanges && sequence == sequence_;
  if (!is_next || checksum_without_field(record.view()) != checksum) return 0;
  if (is_first) sequence_ = sequence;
  return size;
}

bool Journal::continue_at(std::uint64_t at) noexcept {
  const int descriptor = static_cast<int>(raw::call(SYS_fcntl, file_.descriptor(), F_DUPFD_CLOEXEC, 3));
  if (descriptor < 0 || raw::truncate(descriptor, at) < 0) return false;
  file_.adopt(descriptor);  // its length is another
  return true;
}

}  // namespace jitquill::drain
