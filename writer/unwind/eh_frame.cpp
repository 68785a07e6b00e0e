#include "writer/unwind/eh_frame.hpp"

#include <limits>
#include <string_view>

#include "writer/unwind/rows.hpp"

namespace jitquill::unwind {
namespace {

// LSB, .eh_frame: how its pointers are encoded.
constexpr std::uint8_t kEncodedRelative4 = 0x1B;  // signed 4 bytes, from the field itself
constexpr std::uint8_t kEncodedAbsolute8 = 0x00;

constexpr std::uint32_t kAlignment = 8;
constexpr std::uint64_t kMaxDistance = std::numeric_limits<std::int32_t>::max();

constexpr std::uint64_t padded(std::uint64_t size) noexcept {
  return (size + kAlignment - 1) / kAlignment * kAlignment;
}

constexpr std::uint8_t encoding_of(PointerForm form) noexcept {
  return form == PointerForm::kRelative4 ? kEncodedRelative4 : kEncodedAbsolute8;
}

// | "zR" or "zRS", NUL | code align | data align | return address | data: how pc_begin is encoded |
// instructions | What follows a CIE's length, id and version.
template <class Out>
void put_cie_body(Out& out, const ReadyCfi& cfi, PointerForm form) noexcept {
  out.u8('z').u8('R');
  if (cfi.is_signal_frame) out.u8('S');
  out.u8(0);
  out.uleb128(cfi.code_alignment).sleb128(cfi.data_alignment);
  out.u8(static_cast<std::uint8_t>(cfi.return_address));
  out.u8(1).u8(encoding_of(form));
  out.raw(cfi.initial);
}
constexpr std::uint64_t kCieHeadSize = 4 + 4 + 1;

// On entry: CFA = rsp + 8, the return address at CFA - 8. The same for every function of a CPU.
constexpr std::uint8_t kOnEntry[] = {kDefCfa, kStackPointer, kWord, kOffset | kReturnAddress, 1};

const ReadyCfi& common_cfi() noexcept {
  static constexpr ReadyCfi kCommon = {.code_alignment = 1,
                                       .data_alignment = -static_cast<std::int64_t>(kWord),
                                       .return_address = kReturnAddress,
                                       .is_signal_frame = false,
                                       .initial = kOnEntry,
                                       .rows = {}};
  return kCommon;
}

const ReadyCfi& cfi_of(const Unwinding& unwinding) noexcept {
  return unwinding.kind == Unwinding::Kind::kReady ? unwinding.ready : common_cfi();
}

template <class Out>
Status put_instructions(Out& out, const Unwinding& unwinding, std::uint64_t code_size) noexcept {
  if (!unwinding.has_rows()) return Status::kBadFrame;
  if (unwinding.kind == Unwinding::Kind::kFrameEvents) return put_rows(out, unwinding.events, code_size);
  out.raw(unwinding.ready.rows);
  return Status::kOk;
}

constexpr std::uint64_t fde_head_size(PointerForm form) noexcept {
  return 4 + 4 + (form == PointerForm::kRelative4 ? 2 * 4 : 2 * 8) + 1;
}

}  // namespace

// | length u32 | 0 u32 | version | body | padding |
std::uint64_t EhFrameSection::cie_for(const Unwinding& unwinding) noexcept {
  const bool is_common = unwinding.kind == Unwinding::Kind::kFrameEvents;
  if (is_common && common_cie_ != kNone) return common_cie_;
  const std::size_t at = out_.size();
  out_.u32(0).u32(0).u8(1);
  put_cie_body(out_, cfi_of(unwinding), form_);
  out_.pad_to(kAlignment, kNop, at);
  out_.patch_u32(at, static_cast<std::uint32_t>(out_.size() - at - 4));
  if (is_common) common_cie_ = at - start_;
  return at - start_;
}

// | length u32 | distance back to the CIE u32 | pc_begin | pc_range | 0 bytes of data | instructions |
// padding |
Status EhFrameSection::put_fde(const Unwinding& unwinding, std::uint64_t cie_at, std::int64_t code,
                               std::uint64_t code_size) noexcept {
  const std::size_t at = out_.size();
  out_.u32(0);
  out_.u32(static_cast<std::uint32_t>(size() - cie_at));
  if (form_ == PointerForm::kRelative4) {
    const std::int64_t distance = code - static_cast<std::int64_t>(size());
    if (distance != static_cast<std::int32_t>(distance) || code_size > kMaxDistance) return Status::kTooLarge;
    out_.u32(static_cast<std::uint32_t>(distance)).u32(static_cast<std::uint32_t>(code_size));
  } else {
    out_.u64(static_cast<std::uint64_t>(code)).u64(code_size);
  }
  out_.u8(0);
  const Status status = put_instructions(out_, unwinding, code_size);
  out_.pad_to(kAlignment, kNop, at);
  out_.patch_u32(at, static_cast<std::uint32_t>(out_.size() - at - 4));
  last_fde_ = at - start_;
  return status;
}

Status EhFrameSection::add(const Unwinding& unwinding, std::int64_t code, std::uint64_t code_size) noexcept {
  const std::size_t before = out_.size();
  const std::uint64_t common_before = common_cie_;
  const std::uint64_t cie_at = cie_for(unwinding);
  Status status = put_fde(unwinding, cie_at, code, code_size);
  if (status == Status::kOk && size() > kMaxDistance) status = Status::kTooLarge;
  if (out_.failed()) status = Status::kNoMemory;
  if (status == Status::kOk) return status;
  out_.cut(before);
  common_cie_ = common_before;
  return status;
}

Status measure_entry(const Unwinding& unwinding, PointerForm form, std::uint64_t code_size,
                     EntrySizes& sizes) noexcept {
  Count cie, rows;
  if (const Status status = put_instructions(rows, unwinding, code_size); status != Status::kOk)
    return status;
  put_cie_body(cie, cfi_of(unwinding), form);
  sizes.cie = padded(kCieHeadSize + cie.size());
  sizes.fde = padded(fde_head_size(form) + rows.size());
  return sizes.cie + sizes.fde > kMaxDistance || code_size > kMaxDistance ? Status::kTooLarge : Status::kOk;
}

}  // namespace jitquill::unwind
