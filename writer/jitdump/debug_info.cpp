#include <cassert>

#include "writer/bytes/names.hpp"
#include "writer/jitdump/record_scope.hpp"
#include "writer/jitdump/records.hpp"
#include "writer/model/line_rows.hpp"

namespace jitquill::jitdump {
namespace {

[[maybe_unused]] constexpr std::uint32_t kDebugHeadSize = kPrefixSize + 16;

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
    if (repeated == 0) put_file(file);
  }

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
};

}  // namespace

// | prefix | code_addr u64 | nr_entry u64 | rows |
// perf ends the table at the last row's address: so one more row repeats the last line at the end of the
// code.
Status put_debug_info(Bytes& out, const CodeLoad& load, const Image& image) noexcept {
  const std::span<const Line> lines = load.lines;
  if (lines.empty()) return Status::kOk;
  if (!has_usable_lines(load)) return Status::kLinesLeftOut;
  RecordScope record(out, RecordId::kCodeDebugInfo, load.when_ns);
  out.u64(load.address);
  const std::size_t count_at = out.size();
  out.u64(0);
  assert(record.is_at(kDebugHeadSize));
  Rows rows(out, load.file);
  const std::uint64_t count = for_each_row(
      lines, [&](std::uint32_t offset, const Line& line) { rows.put(load.address + offset, line); });
  rows.put(load.address + image.size(), lines.back());
  out.patch_u64(count_at, count + 1);
  return record.end() ? Status::kOk : Status::kLinesLeftOut;
}

}  // namespace jitquill::jitdump
