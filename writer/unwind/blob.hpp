// The unwinding tables that lie, or seem to lie, behind a function's code: what a jitdump carries.
//
// Layout relative to the code's first byte (docs/jitdump.md):
//   [code, C bytes] [pad to 8] [.eh_frame, E bytes] [.eh_frame_hdr: 12 bytes, 8 for each function]
// .eh_frame comes first and the header last, which is what perf reads; the published jitdump text says the
// opposite.
//
// Context   any; puts into the caller's buffer.
#pragma once

#include <cstdint>

#include "writer/bytes/bytes.hpp"
#include "writer/model/status.hpp"
#include "writer/model/unwinding.hpp"

namespace jitquill::unwind {

struct BlobSizes {
  std::uint32_t eh_frame = 0;
  std::uint32_t eh_frame_hdr = 0;
  constexpr std::uint32_t total() const noexcept { return eh_frame + eh_frame_hdr; }
};

// Where .eh_frame begins, counted from the code's first byte.
constexpr std::uint64_t eh_frame_offset(std::uint64_t code_size) noexcept {
  return (code_size + 7) & ~std::uint64_t{7};
}

// How many bytes behind the code the tables take up in the address space.
constexpr std::uint64_t tail_size(std::uint64_t code_size, const BlobSizes& sizes) noexcept {
  return eh_frame_offset(code_size) - code_size + sizes.total();
}

inline constexpr std::uint64_t kAnyRoom = ~std::uint64_t{0};

// Puts the tables of one function. With `twin_distance` they describe it twice, at its place and that many
// bytes above: for an unwinder that takes another, lower place of the same tables for their base
// (docs/jitdump.md). A function that keeps frame pointers gets an empty .eh_frame, which tells unwinders to
// follow those. Nothing stays in `out` after kBadFrame, kNoMemory, or kTooLarge (beyond signed 32-bit
// distances).
Status put_blob(Bytes& out, const Unwinding& unwinding, std::uint64_t code_size, std::uint64_t twin_distance,
                BlobSizes& sizes) noexcept;

// The sizes that put_blob() would give, without putting: by counting, no memory. kBadFrame and kTooLarge
// as put_blob(). Needs no lock.
Status measure_blob(const Unwinding& unwinding, std::uint64_t code_size, bool has_twin,
                    BlobSizes& sizes) noexcept;

}  // namespace jitquill::unwind
