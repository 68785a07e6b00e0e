// Builds .eh_frame and .eh_frame_hdr for one function from its frame events.
//
// Layout of the blob, relative to the code's first byte (docs/jitdump.md):
//   [code, C bytes] [pad to 8] [.eh_frame: CIE, FDE; E bytes] [.eh_frame_hdr: 20 bytes]
// .eh_frame comes first and the header last, which is what perf reads; the published jitdump text says the
// opposite.
//
// Context   any; puts into the caller's buffer.
#pragma once

#include <cstdint>
#include <span>

#include "writer/bytes/bytes.hpp"
#include "writer/model/frame_event.hpp"
#include "writer/model/status.hpp"

namespace jitquill::unwind {

struct BlobSizes {
  std::uint32_t eh_frame = 0;
  std::uint32_t eh_frame_hdr = 0;
  std::uint32_t total() const noexcept { return eh_frame + eh_frame_hdr; }
};

// Where .eh_frame begins, counted from the code's first byte.
constexpr std::uint64_t eh_frame_offset(std::uint64_t code_size) noexcept {
  return (code_size + 7) & ~std::uint64_t{7};
}

// Puts .eh_frame, then .eh_frame_hdr with one table row. Nothing stays in `out` after kBadFrame, kNoMemory,
// or kTooLarge (code and tables of 2 GiB and more: their distances are signed 32-bit numbers).
Status put_blob(Bytes& out, std::span<const FrameEvent> events, std::uint64_t code_size,
                BlobSizes& sizes) noexcept;

// The sizes that put_blob() would give, without putting: by counting, no memory. kBadFrame and kTooLarge
// as put_blob(). Needs no lock.
Status measure_blob(std::span<const FrameEvent> events, std::uint64_t code_size, BlobSizes& sizes) noexcept;

}  // namespace jitquill::unwind
