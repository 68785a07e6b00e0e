// Run news of this process, from its lanes to its files: what has to be there before a site may be switched
// on, and what goes when it ends.
//
// Context   the owner of the leaf lock; start_thread() behind it.
// Promises  all or nothing: where a part cannot be made, the log says which and why, and the parts before
//           it are gone again. A child has none of its parent's.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

#include "agent/base/log.hpp"
#include "agent/lanes/lane_files.hpp"
#include "agent/lanes/lane_folder.hpp"
#include "agent/life/options.hpp"
#include "agent/life/output_place.hpp"
#include "writer/model/run.hpp"
#include "writer/sink/sink.hpp"

namespace jitquill {

class OpenSinks;
namespace lanes {
class CodeLane;
}

// What an interpreter says of a function; read before the lock was taken.
struct NamedFunction {
  std::string_view name;
  std::string_view file;  // empty = unknown
  std::uint32_t line;     // 1-based; 0 = unknown
};

class RunNews {
 public:
  // Formats of run news among these?
  static bool is_wanted(std::uint32_t formats) noexcept;
  // Those that show what runtimes post, or trace points of components too?
  static bool shows(ShownEvents events, std::uint32_t formats) noexcept;

  // The code lane joins the sinks. kOff: no format wants it.
  Status begin(const Options& options, const Origin& origin, OutputPlace& place, OpenSinks& sinks,
               Log& log) noexcept;
  bool is_on() const noexcept { return is_on_; }
  // Why the last begin() failed, as it was said to the log; empty if it did not.
  std::string_view trouble() const noexcept { return trouble_.view(); }

  // An object calls what begins and ends native functions.
  void expect_native_functions() noexcept { has_native_functions_ = true; }

  // Once behind begin(), by the first call that comes from no signal handler; when the leaf lock is free
  // again start_thread() is due.
  bool take_thread_wish() noexcept;
  // False: it could not be, and what is told waits for the end.
  static bool start_thread() noexcept;

  // Which native functions are told of, from now on.
  void set_patterns(std::string_view list) noexcept;

  // A function without code of its own. One whose name cannot be written is called by its id, counted.
  static void tell_function(OpenSinks& sinks, std::uint64_t id, const NamedFunction& function) noexcept;

  // Waits at most `wait_ns` for the drain to let go; what is not written then stays for `jitquill recover`.
  void end(FrameEnd how, std::uint64_t wait_ns, OutputPlace& place, OpenSinks& sinks, Log& log) noexcept;

  // The process ends: what lay in shared memory goes, unless it is for `jitquill recover`.
  void leave() noexcept;

  // True once behind a leave() that ended something.
  bool take_left() noexcept { return std::exchange(has_left_, false); }

  // In a child.
  void forget(OpenSinks& sinks) noexcept;

 private:
  Status refuse(Log& log, std::string_view what, std::string_view why) noexcept;
  Status make_lanes(const Options& options, std::uint32_t pid, const OutputPlace& place, Log& log) noexcept;
  Status begin_code_lane(lanes::CodeLane& code_lane, const Origin& origin, Log& log) noexcept;
  Status open_drain(const Options& options, const Origin& origin, OutputPlace& place, OpenSinks& sinks,
                    Log& log) noexcept;

  lanes::LaneFolder folder_;
  lanes::LaneFiles files_;
  FixedText<512> trouble_;
  GroupFile inherited_;  // a parent's code lane, until this process has its own
  bool is_on_ = false;
  bool has_left_ = false;
  bool has_native_functions_ = false;
  bool is_left_ = false;  // the drain did not let go: the lane folder stays
};

}  // namespace jitquill
