// The words through which the names jump that compilers have native functions call, and the switch for all of
// them (life/native_hooks.hpp decides, preload/hook_names.S jumps).
//
// Context   add(), turn(): the owner of the leaf lock. end_for_good(): [hook].
// Promises  one store switches a name: threads that are inside a hook, or have return addresses taken, go on
//           rightly whenever it comes.
#pragma once

#include <atomic>
#include <cstdint>

namespace jitquill::name_targets {

inline constexpr std::uint32_t kMostNames = 8;

// Off: each leads where it did, or to nothing. hooks[i] serves targets[i]; both live on. Those of more
// libraries than there is room for stay off.
void add(std::atomic<const void*>* targets, const void* const* hooks, std::uint32_t count) noexcept;
void turn(bool on) noexcept;
// Off, and no turn() changes it.
void end_for_good() noexcept;

}  // namespace jitquill::name_targets
