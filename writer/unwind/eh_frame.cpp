#include "writer/unwind/eh_frame.hpp"

#include <limits>

#include "writer/unwind/frame_walk.hpp"

namespace jitquill::unwind {
namespace {

// DWARF 5, 6.4.2 and 7.24: what we put of its call frame instructions.
enum Instruction : std::uint8_t {
  kNop = 0x00,
  kAdvance1 = 0x02,
  kAdvance2 = 0x03,
  kAdvance4 = 0x04,
  kDefCfa = 0x0C,
  kDefCfaRegister = 0x0D,
  kDefCfaOffset = 0x0E,
  kAdvance = 0x40,  // | delta
  kOffset = 0x80,   // | register
  kRestore = 0xC0,  // | register
};

// LSB, .eh_frame: how its pointers are encoded.
constexpr std::uint8_t kPcRelative = 0x1B;    // signed 4 bytes, from the field itself
constexpr std::uint8_t kDataRelative = 0x3B;  // signed 4 bytes, from the start of .eh_frame_hdr
constexpr std::uint8_t kUnsigned4 = 0x03;

constexpr std::uint32_t kCieSize = 24;
constexpr std::uint32_t kFdeHeadSize = 17;
constexpr std::uint32_t kHdrSize = 20;
constexpr std::uint32_t kSectionAlignment = 8;  // so that the next section lies where perf puts it
constexpr std::uint32_t kFdePointerAt = kCieSize + 4;
constexpr std::uint32_t kPcBeginAt = kCieSize + 8;
constexpr std::uint64_t kMaxDistance = std::numeric_limits<std::int32_t>::max();

// Counts what Bytes would be put.
class Count {
 public:
  Count& u8(std::uint8_t) noexcept { return add(1); }
  Count& u16(std::uint16_t) noexcept { return add(2); }
  Count& u32(std::uint32_t) noexcept { return add(4); }
  Count& uleb128(std::uint64_t v) noexcept {
    for (; v >= 0x80; v >>= 7) add(1);
    return add(1);
  }
  std::uint64_t size() const noexcept { return size_; }

 private:
  Count& add(std::uint64_t count) noexcept {
    size_ += count;
    return *this;
  }
  std::uint64_t size_ = 0;
};

constexpr std::uint32_t minus(std::uint64_t distance) noexcept {
  return static_cast<std::uint32_t>(0 - distance);
}

constexpr std::uint64_t padded(std::uint64_t size) noexcept {
  return (size + kSectionAlignment - 1) / kSectionAlignment * kSectionAlignment;
}

template <class Out>
void put_advance(Out& out, std::uint32_t delta) noexcept {
  if (delta == 0) return;
  if (delta < 0x40) {
    out.u8(static_cast<std::uint8_t>(kAdvance | delta));
  } else if (delta <= 0xFF) {
    out.u8(kAdvance1).u8(static_cast<std::uint8_t>(delta));
  } else if (delta <= 0xFFFF) {
    out.u8(kAdvance2).u16(static_cast<std::uint16_t>(delta));
  } else {
    out.u8(kAdvance4).u32(delta);
  }
}

template <class Out>
void put_cfa_change(Out& out, const FrameState& from, const FrameState& to) noexcept {
  const bool moved = to.cfa_offset != from.cfa_offset;
  if (to.cfa_register != from.cfa_register) {
    out.u8(moved ? kDefCfa : kDefCfaRegister).uleb128(to.cfa_register);
    if (moved) out.uleb128(to.cfa_offset);
  } else if (moved) {
    out.u8(kDefCfaOffset).uleb128(to.cfa_offset);
  }
}

std::uint32_t changed_registers(const FrameState& from, const FrameState& to) noexcept {
  std::uint32_t changed = 0;
  for_each_register(from.saved | to.saved, [&](std::uint32_t reg) {
    if (from.saved_below[reg] != to.saved_below[reg]) changed |= 1u << reg;
  });
  return changed;
}

template <class Out>
void put_register_change(Out& out, std::uint32_t reg, std::uint32_t below) noexcept {
  if (below == 0) {
    out.u8(static_cast<std::uint8_t>(kRestore | reg));
  } else {
    out.u8(static_cast<std::uint8_t>(kOffset | reg)).uleb128(below / kWord);
  }
}

// One row per offset at which the frame differs from the row before. Differences make REMEMBER and RECALL
// work without DW_CFA_remember_state, whose stack some unwinders keep short.
template <class Out>
Status put_rows(Out& out, std::span<const FrameEvent> events, std::uint64_t code_size) noexcept {
  FrameWalk walk(code_size);
  FrameState row = walk.state();
  std::uint32_t row_offset = 0;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (const Status status = walk.step(events[i]); status != Status::kOk) return status;
    const std::uint32_t offset = events[i].offset;
    const bool more_here = i + 1 < events.size() && events[i + 1].offset == offset;
    if (more_here || offset == code_size) continue;
    const FrameState& now = walk.state();
    const std::uint32_t changed = changed_registers(row, now);
    if (changed == 0 && now.cfa_register == row.cfa_register && now.cfa_offset == row.cfa_offset) continue;
    put_advance(out, offset - row_offset);
    put_cfa_change(out, row, now);
    for_each_register(changed,
                      [&](std::uint32_t reg) { put_register_change(out, reg, now.saved_below[reg]); });
    row = now;
    row_offset = offset;
  }
  return Status::kOk;
}

// | length u32 | 0 u32 | version | "zR" | code and data alignment | return address | augmentation | rules |
// The same for every function of a CPU.
constexpr std::uint8_t kCie[kCieSize] = {kCieSize - 4,
                                         0,
                                         0,
                                         0,
                                         0,
                                         0,
                                         0,
                                         0,
                                         1,
                                         'z',
                                         'R',
                                         0,
                                         1,               // code alignment factor
                                         0x78,            // data alignment factor: -8 as SLEB128
                                         kReturnAddress,  //
                                         1,
                                         kPcRelative,  // augmentation data: how pc_begin is encoded
                                         kDefCfa,
                                         kStackPointer,
                                         kWord,  // CFA = rsp + 8
                                         kOffset | kReturnAddress,
                                         1,  // return address at CFA - 8
                                         kNop,
                                         kNop};

Status put_fde(Bytes& out, std::span<const FrameEvent> events, std::uint64_t code_size) noexcept {
  const std::size_t start = out.size();
  out.u32(0);                                               // size, known after the rows
  out.u32(kFdePointerAt);                                   // back to the CIE
  out.u32(minus(eh_frame_offset(code_size) + kPcBeginAt));  // pc_begin
  out.u32(static_cast<std::uint32_t>(code_size));           // pc_range
  out.uleb128(0);                                           // bytes of augmentation data
  const Status status = put_rows(out, events, code_size);
  out.pad_to(kSectionAlignment, kNop, start);
  out.patch_u32(start, static_cast<std::uint32_t>(out.size() - start - 4));
  return status;
}

void put_hdr(Bytes& out, std::uint64_t code_size, std::uint32_t eh_frame_size) noexcept {
  out.u8(1);                                                   // version
  out.u8(kPcRelative);                                         // of eh_frame_ptr
  out.u8(kUnsigned4);                                          // of fde_count
  out.u8(kDataRelative);                                       // of the table
  out.u32(minus(std::uint64_t{eh_frame_size} + 4));            // eh_frame_ptr
  out.u32(1);                                                  // fde_count
  out.u32(minus(eh_frame_offset(code_size) + eh_frame_size));  // row: start of the code
  out.u32(minus(std::uint64_t{eh_frame_size} - kCieSize));     // row: its FDE
}

// kTooLarge where a distance inside the blob does not fit into its signed 32 bits.
Status take_sizes(std::uint64_t code_size, std::uint64_t fde_size, BlobSizes& sizes) noexcept {
  if (code_size > kMaxDistance || fde_size > kMaxDistance ||
      eh_frame_offset(code_size) + kCieSize + fde_size + kHdrSize > kMaxDistance) {
    return Status::kTooLarge;
  }
  sizes.eh_frame = kCieSize + static_cast<std::uint32_t>(fde_size);
  sizes.eh_frame_hdr = kHdrSize;
  return Status::kOk;
}

}  // namespace

Status measure_blob(std::span<const FrameEvent> events, std::uint64_t code_size, BlobSizes& sizes) noexcept {
  Count rows;
  if (const Status status = put_rows(rows, events, code_size); status != Status::kOk) return status;
  return take_sizes(code_size, padded(kFdeHeadSize + rows.size()), sizes);
}

Status put_blob(Bytes& out, std::span<const FrameEvent> events, std::uint64_t code_size,
                BlobSizes& sizes) noexcept {
  const std::size_t start = out.size();
  out.raw(kCie);
  const std::size_t fde_at = out.size();
  Status status = put_fde(out, events, code_size);
  if (status == Status::kOk) status = take_sizes(code_size, out.size() - fde_at, sizes);
  if (status == Status::kOk) put_hdr(out, code_size, sizes.eh_frame);
  if (out.failed()) status = Status::kNoMemory;
  if (status != Status::kOk) out.cut(start);
  return status;
}

}  // namespace jitquill::unwind
