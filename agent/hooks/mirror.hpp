// The return mirror: where the return addresses are that native hooks took out of their slots, so that a
// function's return comes to us.
//
// What was in slot S lies at S - kDistance, the mirror word, always. So nothing has to be undone: a longjmp,
// an exception, a thread's end, a switch of stacks just leave a word behind that is written anew before it is
// read again. The return hooks' unwinding tables say the same, so that unwinders walk through by themselves.
//
// Mirror memory comes in pieces of 64 MiB of address space, reserved without memory when a hook first meets a
// slot of theirs, and kept: whatever stack the slot is on, a thread's, a fiber's, a handler's.
//
// A return hook looks whether what it finds is what was taken: by the word's copy in another piece, and by
// the low bits of the address, which its frame itself has kept. Where it is not, no return address is taken
// any more, for good, and no native function traced; the host goes on if either word can still be right.
//
// Context   [hook] but for start(): [life].
// Promises  nothing of the host's is mapped over: a piece that is not free stays whose it is, and functions
//           whose slots would be there are not traced by their return address, and counted.
// Does not  serve stacks that are copied away and back (old greenlet): their words would be another's, which
//           is seen 63 times of 64.
#pragma once

#include <cstdint>

#include "agent/hooks/x86_64/mirror_numbers.h"

extern "C" {

// hooks/x86_64/native_return.S: the first entry of each. Only ever compared, and stored into slots.
[[gnu::visibility("hidden")]] void jitquill_return_hook_a();
[[gnu::visibility("hidden")]] void jitquill_return_hook_b();
[[gnu::visibility("hidden")]] extern const void* jitquill_return_hook;  // the one in use

// The words of `slot` are not those of the frame that returns, whose address has these low bits. Where it has
// to go; 0: nobody knows.
[[gnu::visibility("hidden")]] std::uint64_t jitquill_mirror_mend(std::uint64_t slot,
                                                                 std::uint64_t low_bits) noexcept;

// A hook found no mirror for `slot`: 0: leave the function alone; JITQUILL_MIRROR_TRY_AGAIN: there is one
// now; JITQUILL_MIRROR_ENTRY_ONLY: say that it is entered, its end is told by its compiler.
[[gnu::visibility("hidden")]] std::uint32_t jitquill_mirror_reach(std::uint64_t slot) noexcept;

// Whether the call of `mcount` that returns to `site` stands behind a prologue that leaves the slot above the
// frame pointer. It is remembered if so.
[[gnu::visibility("hidden")]] std::uint32_t jitquill_mcount_has_slot(std::uint64_t site) noexcept;

// Whether the call of `__fentry__` that returns to `site` stands behind `push r10`, which is in the word
// where the slot would be.
[[gnu::visibility("hidden")]] std::uint32_t jitquill_fentry_keeps_chain(std::uint64_t site) noexcept;
}

namespace jitquill::mirror {

inline constexpr std::uint64_t kDistance = JITQUILL_MIRROR_DISTANCE;
inline constexpr std::uint64_t kCopyDistance = JITQUILL_MIRROR_COPY_DISTANCE;
inline constexpr std::uint64_t kPieceSize = std::uint64_t{1} << JITQUILL_MIRROR_PIECE_SHIFT;

// What the process is like; before any hook is on.
struct Surroundings {
  bool has_exit_sites = false;       // some functions call __return__
  bool has_nongnu_unwinder = false;  // nongnu libunwind handles exceptions
  bool has_fixed_layout = false;     // a sanitizer says what may lie where
  bool leaves_returns = false;       // the user wants them left alone
};
void start(const Surroundings& surroundings) noexcept;

// What a stack walker that found `found` in `slot` has to go on with: `found`, or what was there before we
// took it; 0: it is not known.
std::uint64_t return_address(std::uint64_t found, std::uint64_t slot) noexcept;

// Code was unloaded: other may come to its addresses.
void forget_sites() noexcept;

// Calls that were left alone, since the process began.
std::uint64_t calls_without_mirror() noexcept;
std::uint64_t calls_without_slot() noexcept;
// Returns that did not find what was taken.
std::uint64_t broken_returns() noexcept;

}  // namespace jitquill::mirror
