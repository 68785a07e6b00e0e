// The words through which the names jump that compilers have native functions call, and the switch for all of
// them (life/native_hooks.hpp decides, preload/hook_names.S jumps).
//
//   kOff   where they would lead without us, or to nothing
//   kOn    to our hooks
//   kWake  to our hooks too, but the first call that may wake the agent does: of an object that was opened
//          later, in a child
//
// Context   add(), turn(), wake_by(): the owner of the leaf lock. end_for_good(): [hook]. wake_in_child(): a
//           child of fork, before anything else.
// Promises  one store switches a name: threads that are inside a hook, or have return addresses taken, go on
//           rightly whenever it comes.
#pragma once

#include <atomic>
#include <cstdint>

#include "agent/hooks/cpu.hpp"
#include "agent/hooks/x86_64/mirror_numbers.h"

namespace jitquill::name_targets {

inline constexpr std::uint32_t kMostNames = JITQUILL_MOST_NAMES;
enum class Mode : std::uint8_t { kOff, kOn, kWake };

// Off. hooks[i] serves targets[i]; both live on. Those of more libraries than there is room for stay off.
void add(std::atomic<const void*>* targets, const void* const* hooks, std::uint32_t count) noexcept;
void turn(Mode mode) noexcept;
bool are_on() noexcept;           // any context
bool is_call_awaited() noexcept;  // kWake; any context
// Off, and no turn() changes it.
void end_for_good() noexcept;

// What a first call runs, in whatever state its thread is: with vector registers kept, by one thread at a
// time. Which mode comes of it is the waker's to say.
void wake_by(cpu::KeptCall waker) noexcept;
// What its parent traced, it does itself.
void wake_in_child() noexcept;

}  // namespace jitquill::name_targets
