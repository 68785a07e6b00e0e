// Where the names lead that compilers have native functions call: to our hooks while functions are traced, to
// nothing else.
//
// The libraries that show the names (preload/hook_names.S) hand us the words that their code jumps through.
//
// Context   native_names_shown(): [life], of a library's constructor, no lock held. NativeHooks: the owner of
//           the leaf lock.
// Promises  as hooks/name_targets.hpp, which has the words.
#pragma once

#include <atomic>
#include <cstdint>

namespace jitquill {

// Starts the agent if functions are to be traced and an object in this process calls one of the names. If
// none does yet, the first call will, of an object that is opened later; and in a forked child its first
// call.
void native_names_shown(std::atomic<const void*>* targets, std::uint32_t count);

// Before and behind what may unload objects whose code is traced, sampled or in call stacks: what they are
// called is noted, and what was known of their code is forgotten. Context: any thread outside of signal
// handlers.
void objects_go();
void objects_went();

// Where an allocator is traced, a child may be inside of it when its first call comes: there no thread may be
// made, which allocates, nor a library opened. So such a child wakes when its fork returns, if its parent's
// host had one thread; else its drain is put off until the host makes a thread. Context: in front of a fork;
// behind it in the child, when nothing of the host's is held; in front of pthread_create().
void fork_comes() noexcept;
void child_came();
void thread_comes();

class NativeHooks {
 public:
  // Off. Those of more libraries than there is room for stay so.
  void add(std::atomic<const void*>* targets, std::uint32_t count, bool have_callers) noexcept;
  // Whether an object called one of the names when the libraries came that show them.
  bool have_callers() const noexcept { return have_callers_; }
  // A call of one of the names is there: whether the agent wakes or not, no other need try.
  void found_callers() noexcept { have_callers_ = has_tried_ = true; }
  // Another process, or other patterns.
  void try_again() noexcept { has_tried_ = false; }
  // `with_stacks`: the stacks of some functions' entries are wanted (hooks/stack_copy.hpp).
  void turn(bool on, bool may_wake, bool with_stacks) noexcept;

 private:
  bool have_callers_ = false;
  bool has_tried_ = false;
};

}  // namespace jitquill
