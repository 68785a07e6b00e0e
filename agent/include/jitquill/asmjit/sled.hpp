// Sites in code that asmjit emits: prefilled sleds (docs/sites.md), each behind a label that tells where.
//
// Context   the thread that emits.
// Does not  know where the hooks are: the runtime fills the calls in when the code has its address.
#pragma once

#include <jitquill/jitquill.h>
#include <jitquill/asmjit/rows.hpp>
#include <jitquill/asmjit/version.hpp>

namespace jitquill {

// Which functions get sites. Those without cannot be traced; those with sites that are off lose up to 0.5 ns
// a call, and 11 to 18 bytes for each.
enum class SitePolicy : std::uint8_t {
  kWhenWanted,  // asks jitquill_wants_sites() for each function
  kAlways,      // so that jitquill_set_hooks() can trace them any time later
  kNever,
};

namespace asmjit_detail {

inline constexpr std::size_t kSledSize = 11;
inline constexpr std::size_t kSledAlignment = 8;
inline constexpr std::size_t kSledCallAt = 7;  // where its rel32 lies

inline bool wants_sites(SitePolicy policy) noexcept {
  return policy == SitePolicy::kAlways || (policy == SitePolicy::kWhenWanted && jitquill_wants_sites() != 0);
}

struct SiteMark {
  std::uint32_t label;  // of the sled's first byte
  std::uint8_t kind;    // jitquill_site_kind
};

// Bytes in front of it are nops that run. Off until the agent says otherwise: EB 09 id32 E8 rel32.
inline asmjit::Error emit_sled(asmjit::BaseEmitter& emitter, std::uint8_t kind, SiteMark& mark) {
  constexpr std::uint8_t kSled[kSledSize] = {0xEB, 0x09, 0, 0, 0, 0, 0xE8};
  asmjit::Error error = emitter.align(asmjit::AlignMode::kCode, kSledAlignment);
  const asmjit::Label here = emitter.JITQUILL_ASMJIT(newLabel, new_label)();
  mark = {here.id(), kind};
  if (error == kNoError) error = emitter.bind(here);
  return error == kNoError ? emitter.embed(kSled, sizeof kSled) : error;
}

// What nodes of a Compiler say of themselves, as their user data: nobody else's has these numbers.
inline constexpr std::int64_t kNodeMark = 0x4A51'5349'5445'0000;      // "JQSITE"
inline constexpr std::int64_t kSledMark = kNodeMark;                  // + jitquill_site_kind
inline constexpr std::int64_t kTailJumpMark = kNodeMark + 0x100;      // a jump to another function
inline constexpr std::int64_t kTailCallMark = kNodeMark + 0x101;      // a call that is to become one
inline constexpr std::int64_t kTransferMark = kNodeMark + 0x102;      // the same, without a site
inline constexpr std::int64_t kContinuationMark = kNodeMark + 0x103;  // a function without one at its entry

inline std::int64_t mark_of(const asmjit::BaseNode& node) noexcept {
  return node.JITQUILL_ASMJIT(userDataAsInt64, user_data_as_int64)();
}
inline void set_mark(asmjit::BaseNode& node, std::int64_t mark) noexcept {
  node.JITQUILL_ASMJIT(setUserDataAsInt64, set_user_data_as_int64)(mark);
}

}  // namespace asmjit_detail
}  // namespace jitquill
