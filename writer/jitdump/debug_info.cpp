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
  Fields<16> head;
  out.raw(head.u64(address).u32(line.line).u32(line.column).view());
  files.put(line.file);
}

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
  std::uint64_t count = 0;
  out.u64(count);
  assert(record.is_at(kDebugHeadSize));
  FileNames files(out, load.file);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i + 1 < lines.size() && lines[i + 1].offset == lines[i].offset) continue;  // the last one holds
    put_row(out, files, load.address + (count == 0 ? 0 : lines[i].offset), lines[i]);
    ++count;
  }
  put_row(out, files, load.address + image.size(), lines.back());
  out.patch_u64(count_at, count + 1);
  return record.end() ? Status::kOk : Status::kLinesLeftOut;
}

}  // namespace jitquill::jitdump
