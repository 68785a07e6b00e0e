// Keeps forks out of the plugin's steps: libunwind has locks of its own, and a child that was forked while
// another thread held one would wait for it for good: 3 of 447 did.
//
// The word is ordinary memory: a child finds it as its parent left it, and so knows what the plugin is in.
//
// Context   lock(), unlock(): [drain], around each step. The rest: [life].
// Promises  nobody waits longer than kMostWaitNs: a step that finds a fork under way is not taken, and a fork
//           that finds a step which does not end goes on. The child of such a fork, or of a raw clone in the
//           middle of a step, does without the plugin.
#pragma once

#include <cstdint>

namespace jitquill::stacks {

class StepLock {
 public:
  static constexpr std::uint64_t kMostWaitNs = 100'000'000;

  // False: it is not to be had.
  static bool lock() noexcept;
  static void unlock() noexcept;

  // In the child whose parent's thread had it and forked.
  static void forget() noexcept;
  // In a child, where nobody has it: whether a step of its parent's was cut off.
  static bool was_cut_off() noexcept;
};

}  // namespace jitquill::stacks
