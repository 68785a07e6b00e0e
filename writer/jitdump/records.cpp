#include "writer/jitdump/records.hpp"

#include <cassert>
#include <cstring>

#include "writer/bytes/names.hpp"
#include "writer/jitdump/record_scope.hpp"
#include "writer/unwind/blob.hpp"

namespace jitquill::jitdump {
namespace {

constexpr std::uint32_t kMachineAmd64 = 62;     // EM_X86_64
constexpr std::uint64_t kNanosecondStamps = 0;  // flags
constexpr std::uint64_t kCounterStamps = 1;
[[maybe_unused]] constexpr std::uint32_t kUnwindingHeadSize = kPrefixSize + 24;
[[maybe_unused]] constexpr std::uint32_t kMoveSize = kPrefixSize + 48;
constexpr std::uint32_t kLoadHeadSize = kPrefixSize + 40;
static_assert(kMaxCodeSize + kLoadHeadSize + kMaxNameSize + 1 <= std::numeric_limits<std::uint32_t>::max());

void put_image(Bytes& out, const Image& image) noexcept {
  out.raw(image.bytes);
  if (image.salt_size == 0) return;
  if (image.is_over) out.cut(out.size() - image.salt_size);
  out.u64(image.salt);
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
  out.u64(origin.counts_ticks ? kCounterStamps : kNanosecondStamps);
  assert(out.failed() || out.size() - start == kHeaderSize);
}

// | prefix | unwinding_size u64 | eh_frame_hdr_size u64 | mapped_size u64 | .eh_frame | .eh_frame_hdr |
// perf maps mapped_size more bytes behind the code, and its libunwind reads the tables through that map: so
// only where no other code's map can cut into it.
Status put_unwinding_info(Bytes& out, const Unwinding& unwinding, const Place& place,
                          std::uint32_t& tail) noexcept {
  const std::size_t start = out.size();
  tail = 0;
  RecordScope record(out, RecordId::kCodeUnwindingInfo, place.when_ns);
  const std::size_t sizes_at = out.size();
  if (std::uint8_t* const room = out.reserve(24); room != nullptr)
    out.put_up_to(Cursor(room).u64(0).u64(0).u64(0));  // the three sizes, known after the tables
  assert(record.is_at(kUnwindingHeadSize));
  unwind::BlobSizes sizes;
  const Status status = unwind::put_blob(out, unwinding, place.code_size, place.twin_distance, sizes);
  if (status != Status::kOk || !record.end()) {
    out.cut(start);
    return Status::kUnwindingLeftOut;
  }
  const std::uint64_t needed = unwind::tail_size(place.code_size, sizes);
  const bool is_mapped = unwinding.has_rows() && place.room >= needed;
  if (is_mapped) tail = static_cast<std::uint32_t>(needed);
  out.patch_u64(sizes_at, sizes.total());
  out.patch_u64(sizes_at + 8, sizes.eh_frame_hdr);
  out.patch_u64(sizes_at + 16, is_mapped ? sizes.total() : 0);
  return Status::kOk;
}

// | prefix | pid u32 | tid u32 | vma u64 | code_addr u64 | code_size u64 | code_index u64 | name, NUL | code
// | No padding anywhere: some readers find the code from the front, others from the end.
Status put_load(Bytes& out, const CodeLoad& load, std::uint64_t address, const Image& image,
                bool& name_changed) noexcept {
  RecordScope record(out, RecordId::kCodeLoad, load.when_ns);
  if (std::uint8_t* const room = out.reserve(kLoadHeadSize); room != nullptr) {
    Cursor head(room);
    head.u32(load.pid).u32(load.tid).u64(address).u64(address).u64(image.size()).u64(load.index);
    out.put_up_to(head);
  }
  assert(record.is_at(kLoadHeadSize));
  name_changed = put_code_name(out, load.name, load.address);
  out.u8(0);
  put_image(out, image);
  return record.end() ? Status::kOk : Status::kTooLarge;
}

// | prefix | pid u32 | tid u32 | vma u64 | old_code_addr u64 | new_code_addr u64 | code_size u64 | code_index
// u64 |
void put_move(Bytes& out, const CodeMove& move) noexcept {
  RecordScope record(out, RecordId::kCodeMove, move.when_ns);
  out.u32(move.pid).u32(move.tid);
  out.u64(move.to).u64(move.from).u64(move.to).u64(move.size).u64(move.index);
  assert(record.is_at(kMoveSize));
  (void)record.end();
}

void put_close(Bytes& out, std::uint64_t when_ns) noexcept {
  RecordScope record(out, RecordId::kCodeClose, when_ns);
  (void)record.end();
}

}  // namespace jitquill::jitdump
