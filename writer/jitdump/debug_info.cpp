#include <algorithm>
#include <cassert>
#include <span>

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
  [[gnu::always_inline]] void put(std::uint64_t address, const Line& line) noexcept {
    const char* file = line.file != nullptr ? line.file : default_;
    if (at_.at() >= last_at_ && !make_room()) return;
    at_.u64(address).u32(line.line).u32(line.column);
    if (file == last_ && name_size_ <= kShort) [[likely]] {
      at_.raw_padded(short_name_, name_size_);
    } else {
      put_file(file);
    }
  }
  // Hands what was put to the buffer.
  void end() noexcept {
    if (at_.at() != nullptr) out_.put_up_to(at_);
  }

 private:
  static constexpr std::size_t kHeadSize = 16;
  static constexpr std::size_t kShort = 64;
  static constexpr std::size_t kRowRoom = kHeadSize + kShort;
  static constexpr std::size_t kRowsAtOnce = 16;

  bool make_room() noexcept {
    end();
    std::uint8_t* const room = out_.reserve(kRowsAtOnce * kRowRoom);
    at_ = Cursor(room);
    last_at_ = room == nullptr ? nullptr : room + (kRowsAtOnce - 1) * kRowRoom + 1;
    return room != nullptr;
  }

  // A new name, or a long one again.
  void put_file(const char* file) noexcept {
    end();
    if (file != last_) {
      put_new_file(file);
    } else if (std::uint8_t* const room = out_.reserve(name_size_); room != nullptr) {
      out_.put_up_to(Cursor(room).raw(out_.view().subspan(name_at_, name_size_)));
    }
    at_ = Cursor(nullptr);
    last_at_ = nullptr;
  }

  void put_new_file(const char* file) noexcept {
    last_ = file;
    name_at_ = out_.size();
    (void)put_clean(out_, file);
    out_.u8(0);
    const std::span<const std::uint8_t> name = out_.view().subspan(name_at_);
    name_size_ = name.size();
    if (name_size_ <= kShort) std::copy(name.begin(), name.end(), short_name_);
  }

  Bytes& out_;
  const char* const default_;
  Cursor at_{nullptr};               // the next row goes here
  std::uint8_t* last_at_ = nullptr;  // where a row has no room any more
  const char* last_ = nullptr;
  std::size_t name_at_ = 0;    // in the buffer
  std::size_t name_size_ = 0;  // with its NUL
  std::uint8_t short_name_[kShort] = {};
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
  rows.end();
  out.patch_u64(count_at, count + 1);
  return record.end() ? Status::kOk : Status::kLinesLeftOut;
}

}  // namespace jitquill::jitdump
