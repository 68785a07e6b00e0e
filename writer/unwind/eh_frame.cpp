#include "writer/unwind/eh_frame.hpp"

#include <array>
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
constexpr void put_cie_body(Out& out, const ReadyCfi& cfi, PointerForm form) noexcept {
  out.u8('z').u8('R');
  if (cfi.is_signal_frame) out.u8('S');
  out.u8(0);
  out.uleb128(cfi.code_alignment).sleb128(cfi.data_alignment);
  out.u8(static_cast<std::uint8_t>(cfi.return_address));
  out.u8(1).u8(encoding_of(form));
  out.raw(cfi.initial);
}

// On entry: CFA = rsp + 8, the return address at CFA - 8. The same for every function of a CPU.
constexpr std::uint8_t kOnEntry[] = {kDefCfa, kStackPointer, kWord, kOffset | kReturnAddress, 1};

constexpr ReadyCfi kCommonCfi = {.code_alignment = 1,
                                 .data_alignment = -static_cast<std::int64_t>(kWord),
                                 .return_address = kReturnAddress,
                                 .is_signal_frame = false,
                                 .initial = kOnEntry,
                                 .rows = {}};

const ReadyCfi& cfi_of(const Unwinding& unwinding) noexcept {
  return unwinding.kind == Unwinding::Kind::kReady ? unwinding.ready : kCommonCfi;
}

constexpr std::uint64_t kCieHeadSize = 4 + 4 + 1;
constexpr std::size_t kCieBodyRoom = 32;  // without its instructions
constexpr std::size_t kFdeHeadRoom = 32;
constexpr std::size_t kPaddingRoom = kAlignment;

// The most that an entry can need, without a walk over its events.
EntrySizes bound_entry(const Unwinding& unwinding, const ReadyCfi& cfi) noexcept {
  return {.cie = kCieHeadSize + kCieBodyRoom + cfi.initial.size() + kPaddingRoom,
          .fde = kFdeHeadRoom + unwinding.events.size() * kMaxRowSize + cfi.rows.size() + kPaddingRoom};
}

constexpr Cursor& pad(Cursor& entry, const std::uint8_t* start) noexcept {
  while ((entry.at() - start) % kAlignment != 0) entry.u8(kNop);
  return entry;
}

// Fills in how long the entry at `start` became.
constexpr void close_entry(const Cursor& entry, std::uint8_t* start) noexcept {
  Cursor(start).u32(static_cast<std::uint32_t>(entry.at() - start - 4));
}

// | length u32 | 0 u32 | version | body | padding |
constexpr Cursor put_cie(std::uint8_t* start, const ReadyCfi& cfi, PointerForm form) noexcept {
  Cursor cie(start);
  cie.u32(0).u32(0).u8(1);
  put_cie_body(cie, cfi, form);
  close_entry(pad(cie, start), start);
  return cie;
}

constexpr std::size_t kCommonCieSize = 24;

// Made by the compiler: each function's group has one.
constexpr std::array<std::uint8_t, kCommonCieSize> common_cie(PointerForm form) noexcept {
  std::array<std::uint8_t, kCommonCieSize> cie{};
  (void)put_cie(cie.data(), kCommonCfi, form);
  return cie;
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

std::uint64_t EhFrameSection::cie_for(const Unwinding& unwinding, std::uint64_t room) noexcept {
  static constexpr auto kRelative = common_cie(PointerForm::kRelative4);
  static constexpr auto kAbsolute = common_cie(PointerForm::kAbsolute8);
  static_assert(kRelative[0] + 4 == kCommonCieSize && kAbsolute[0] + 4 == kCommonCieSize);
  const bool is_common = unwinding.kind == Unwinding::Kind::kFrameEvents;
  if (is_common && common_cie_ != kNone) return common_cie_;
  const std::uint64_t at = size();
  std::uint8_t* const start = out_.reserve(room);
  if (start == nullptr) return at;
  if (!is_common) {
    out_.put_up_to(put_cie(start, cfi_of(unwinding), form_));
    return at;
  }
  out_.put_up_to(Cursor(start).raw(form_ == PointerForm::kRelative4 ? kRelative : kAbsolute));
  return common_cie_ = at;
}

// | length u32 | distance back to the CIE u32 | pc_begin | pc_range | 0 bytes of data | instructions |
// padding |
Status EhFrameSection::put_fde(const Unwinding& unwinding, std::uint64_t cie_at, std::int64_t code,
                               std::uint64_t code_size, std::uint64_t room) noexcept {
  const std::uint64_t at = size();
  std::uint8_t* const start = out_.reserve(room);
  if (start == nullptr) return Status::kNoMemory;
  Cursor fde(start);
  fde.u32(0).u32(static_cast<std::uint32_t>(at + 4 - cie_at));
  if (form_ == PointerForm::kRelative4) {
    const std::int64_t distance = code - static_cast<std::int64_t>(at + 8);
    if (distance != static_cast<std::int32_t>(distance) || code_size > kMaxDistance) return Status::kTooLarge;
    fde.u32(static_cast<std::uint32_t>(distance)).u32(static_cast<std::uint32_t>(code_size));
  } else {
    fde.u64(static_cast<std::uint64_t>(code)).u64(code_size);
  }
  fde.u8(0);
  if (const Status status = put_instructions(fde, unwinding, code_size); status != Status::kOk) return status;
  close_entry(pad(fde, start), start);
  out_.put_up_to(fde);
  last_fde_ = at;
  return Status::kOk;
}

Status EhFrameSection::add(const Unwinding& unwinding, std::int64_t code, std::uint64_t code_size,
                           std::uint64_t known_cie) noexcept {
  const std::size_t before = out_.size();
  const std::uint64_t common_before = common_cie_;
  EntrySizes room = bound_entry(unwinding, cfi_of(unwinding));
  if (out_.is_fixed()) {
    const Status measured = measure_entry(unwinding, form_, code_size, room);
    if (measured != Status::kOk) return measured;
  }
  const std::uint64_t cie_at = known_cie == kNone ? cie_for(unwinding, room.cie) : known_cie;
  last_cie_ = cie_at;
  Status status = put_fde(unwinding, cie_at, code, code_size, room.fde);
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
