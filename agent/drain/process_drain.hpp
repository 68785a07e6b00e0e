// The drain of this process and the thread that runs it.
//
// Context   open(), set_patterns(), finish(), forget(): [life], under the leaf lock; they take the drain's
//           lock inside. start_thread(): [life], with no lock of ours held.
// Promises  the thread takes no signal, and none of its files are touched while the lock is somebody else's.
//           It ends by itself behind finish().
// Does not  exist in a child: forget().
#pragma once

#include <cstdint>
#include <string_view>

#include "agent/base/fixed_text.hpp"
#include "agent/base/log.hpp"
#include "agent/drain/drain.hpp"

namespace jitquill::drain {

class ProcessDrain {
 public:
  // `settings.lanes` and `say` are filled in here. Behind it a thread is to be started. `tell`: called by it
  // with no lock held, where take_said() has lines for the log. It takes them with the log's lock, since
  // nobody may hold one on the way there: a process that ends meanwhile says it itself, in finish().
  static Status open(DrainSettings settings, void (*tell)()) noexcept;
  static FixedText<512> take_said() noexcept;

  // Which native functions are told of, from now on: what is not drained yet is judged by them too.
  static void set_patterns(std::string_view list) noexcept;

  // Around what unmaps objects: they keep their names. Without the leaf lock; not at all if the drain does
  // not let go within a second.
  static void objects_go() noexcept;
  static void objects_went(std::uint64_t now_ns) noexcept;

  // After open() where there is no thread yet, until it is taken.
  static bool has_thread_wish() noexcept;
  static void take_thread_wish() noexcept;
  // False: the process may have no more threads. What is told then waits for finish().
  static bool start_thread() noexcept;

  // All that is there is written, and every open frame ends. kBusy: the drain did not let go within
  // `wait_ns`.
  static Status finish(FrameEnd how, std::uint64_t wait_ns, Log& log) noexcept;

  // In a child: all of it is the parent's.
  static void forget() noexcept;
  // In a child that may never have news of its own, before anything else: readers of the parent's streams
  // would not see their end before this child's.
  static void let_go_of_streams() noexcept;
};

}  // namespace jitquill::drain
