#include <cassert>

#include "writer/bytes/names.hpp"
#include "writer/jitdump/record_scope.hpp"
#include "writer/jitdump/records.hpp"

namespace jitquill::jitdump {
namespace {

[[maybe_unused]] constexpr std::uint32_t kDebugHeadSize = kPrefixSize + 16;

bool are_usable(const CodeLoad& load) noexcept {
  std::uint32_t offset = 0;
  for (const Line& line : load.lines) {
    if (line.offset < offset || line.offset >= load.bytes.size()) return false;
    if (line.file == nullptr && load.file == nullptr) return false;
    offset = line.offset;
  }
  return true;
}

// Puts rows. A file name that follows itself, as in most tables, is cleaned and measured only once.
class Rows {
 public:
  Rows(Bytes& out, const char* default_file) noexcept : out_(out), default_(default_file) {}

  // | address u64 | line u32 | discriminator u32 | file, NUL |
  // The address is where the code runs, without the 0x40 that some writers add for the perf of 2016. Readers
  // that show columns take them from the discriminator, which perf ignores.
  void put(std::uint64_t address, const Line& line) noexcept {
    const char* file = line.file != nullptr ? line.file : default_;
    const std::size_t repeated = file == last_ ? last_size_ : 0;
    std::uint8_t* const room = out_.reserve(kHeadSize + repeated);
    if (room == nullptr) return;
    Cursor row(room);
    row.u64(address).u32(line.line).u32(line.column);
    if (repeated != 0) row.raw(out_.view().subspan(last_at_, repeated));
    out_.put_up_to(row);
    ++count_;
    if (repeated == 0) put_file(file);
  }
  std::uint64_t count() const noexcept { return count_; }

 private:
  static constexpr std::size_t kHeadSize = 16;

  void put_file(const char* file) noexcept {
    last_ = file;
    last_at_ = out_.size();
    (void)put_clean(out_, file);
    out_.u8(0);
    last_size_ = out_.size() - last_at_;
  }

  Bytes& out_;
  const char* default_;
  const char* last_ = nullptr;
  std::size_t last_at_ = 0;
  std::size_t last_size_ = 0;  // with its NUL
  std::uint64_t count_ = 0;
};

}  // namespace

// | prefix | code_addr u64 | nr_entry u64 | rows |
// The first row is moved to the start of the code, whose first bytes would have no line otherwise. perf ends
// the table at the last row's address: so one more row repeats the last line at the end of the code.
Status put_debug_info(Bytes& out, const CodeLoad& load, const Image& image) noexcept {
  const std::span<const Line> lines = load.lines;
  if (lines.empty()) return Status::kOk;
  if (!are_usable(load)) return Status::kLinesLeftOut;
  RecordScope record(out, RecordId::kCodeDebugInfo, load.when_ns);
  out.u64(load.address);
  const std::size_t count_at = out.size();
  out.u64(0);
  assert(record.is_at(kDebugHeadSize));
  Rows rows(out, load.file);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i + 1 < lines.size() && lines[i + 1].offset == lines[i].offset) continue;  // the last one holds
    rows.put(load.address + (rows.count() == 0 ? 0 : lines[i].offset), lines[i]);
  }
  rows.put(load.address + image.size(), lines.back());
  out.patch_u64(count_at, rows.count());
  return record.end() ? Status::kOk : Status::kLinesLeftOut;
}

}  // namespace jitquill::jitdump
