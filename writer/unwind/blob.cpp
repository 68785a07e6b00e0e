#include "writer/unwind/blob.hpp"

#include <limits>

#include "writer/unwind/eh_frame.hpp"

namespace jitquill::unwind {
namespace {

// LSB, .eh_frame_hdr: how its pointers are encoded.
constexpr std::uint8_t kPcRelative = 0x1B;    // signed 4 bytes, from the field itself
constexpr std::uint8_t kDataRelative = 0x3B;  // signed 4 bytes, from the start of .eh_frame_hdr
constexpr std::uint8_t kUnsigned4 = 0x03;

constexpr std::uint32_t kHdrHeadSize = 12;
constexpr std::uint32_t kHdrRowSize = 8;
constexpr std::uint32_t kFramePointersHdrSize = 20;  // as V8 writes it: no functions, one row of zeroes
constexpr std::uint64_t kMaxDistance = std::numeric_limits<std::int32_t>::max();

constexpr std::uint32_t minus(std::uint64_t distance) noexcept {
  return static_cast<std::uint32_t>(0 - distance);
}

// | version | three encodings | .eh_frame i32 | functions u32 |
void put_hdr_head(Cursor& out, std::uint64_t eh_frame_size, std::uint32_t functions) noexcept {
  out.u8(1).u8(kPcRelative).u8(kUnsigned4).u8(kDataRelative);
  out.u32(minus(eh_frame_size + 4)).u32(functions);
}

Status put_frame_pointers(Bytes& out, BlobSizes& sizes) noexcept {
  std::uint8_t* const room = out.reserve(kFramePointersHdrSize);
  if (room == nullptr) return Status::kNoMemory;
  Cursor hdr(room);
  put_hdr_head(hdr, 0, 0);
  out.put_up_to(hdr.u64(0));
  sizes = {0, kFramePointersHdrSize};
  return Status::kOk;
}

// kTooLarge where a distance inside the blob does not fit into its signed 32 bits.
Status take_sizes(std::uint64_t code_size, std::uint64_t eh_frame_size, std::uint32_t functions,
                  BlobSizes& sizes) noexcept {
  const std::uint64_t hdr_size = kHdrHeadSize + kHdrRowSize * functions;
  if (code_size > kMaxDistance || eh_frame_size > kMaxDistance ||
      eh_frame_offset(code_size) + eh_frame_size + hdr_size > kMaxDistance) {
    return Status::kTooLarge;
  }
  sizes = {static_cast<std::uint32_t>(eh_frame_size), static_cast<std::uint32_t>(hdr_size)};
  return Status::kOk;
}

// A row: | start of the code i32 | its FDE i32 |, both from the start of .eh_frame_hdr. Ascending.
Status put_rows_of_functions(Bytes& out, const Unwinding& unwinding, std::uint64_t code_size,
                             std::uint64_t twin_distance, BlobSizes& sizes) noexcept {
  const std::uint64_t to_section = eh_frame_offset(code_size);
  const std::uint64_t distances[] = {0, twin_distance};
  const std::uint32_t functions = twin_distance == 0 ? 1 : 2;
  std::uint64_t fdes[2] = {};
  EhFrameSection section(out, PointerForm::kRelative4);
  for (std::uint32_t i = 0; i < functions; ++i) {
    const auto code = static_cast<std::int64_t>(distances[i]) - static_cast<std::int64_t>(to_section);
    const std::uint64_t cie = i == 0 ? EhFrameSection::kNone : section.last_cie();
    if (const Status status = section.add(unwinding, code, code_size, cie); status != Status::kOk)
      return status;
    fdes[i] = section.last_fde();
  }
  const std::uint64_t size = section.size();
  if (twin_distance > kMaxDistance) return Status::kTooLarge;
  if (const Status status = take_sizes(code_size, size, functions, sizes); status != Status::kOk)
    return status;
  std::uint8_t* const room = out.reserve(kHdrHeadSize + kHdrRowSize * 2);
  if (room == nullptr) return Status::kNoMemory;
  Cursor hdr(room);
  put_hdr_head(hdr, size, functions);
  for (std::uint32_t i = 0; i < functions; ++i) {
    hdr.u32(minus(to_section + size - distances[i])).u32(minus(size - fdes[i]));
  }
  out.put_up_to(hdr);
  return Status::kOk;
}

}  // namespace

Status put_blob(Bytes& out, const Unwinding& unwinding, std::uint64_t code_size, std::uint64_t twin_distance,
                BlobSizes& sizes) noexcept {
  const std::size_t start = out.size();
  const Status status = unwinding.kind == Unwinding::Kind::kFramePointers
                            ? put_frame_pointers(out, sizes)
                            : put_rows_of_functions(out, unwinding, code_size, twin_distance, sizes);
  if (status != Status::kOk) out.cut(start);
  return status;
}

Status measure_blob(const Unwinding& unwinding, std::uint64_t code_size, bool has_twin,
                    BlobSizes& sizes) noexcept {
  if (unwinding.kind == Unwinding::Kind::kFramePointers) {
    sizes = {0, kFramePointersHdrSize};
    return Status::kOk;
  }
  EntrySizes entry;
  const Status status = measure_entry(unwinding, PointerForm::kRelative4, code_size, entry);
  if (status != Status::kOk) return status;
  const std::uint32_t functions = has_twin ? 2 : 1;
  return take_sizes(code_size, entry.cie + entry.fde * functions, functions, sizes);
}

}  // namespace jitquill::unwind
