// What the agent wants to hear of, as it tells every thread without a lock: one word, computed in one place
// (Agent::tell_wants()) from the phase and the options.
//
// Context   any; a plain value.
#pragma once

#include <cstdint>

namespace jitquill {

// Until the options are read code is wanted: a call before our constructor ran must come in.
struct alignas(std::uint64_t) Wants {
  std::uint32_t intakes = 0;  // bit i = row i of intakes.def
  bool is_known : 1 = false;  // the options are read
  bool is_stopped : 1 = false;
  bool code : 1 = true;
  bool unwinding : 1 = true;
  bool inlining : 1 = false;
  bool sites : 1 = false;
  bool stacks : 1 = false;      // at entries of some functions that are traced
  bool run_news : 1 = false;    // outputs of it are asked for, and not open yet
  bool map_in_tmp : 1 = false;  // /tmp/perf-<pid>.map is, or will be, ours
  bool samples : 1 = false;     // the process, if it has outputs of run news
  bool own_dump : 1 = false;    // code of a process that writes a dump of its own, in ours too
};
static_assert(sizeof(Wants) == sizeof(std::uint64_t));

}  // namespace jitquill
