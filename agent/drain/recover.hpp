// What a process that was killed left in its lane folder, written into its output as it would have been.
//
// Context   `jitquill recover`, and a start that sweeps what dead processes left. Any thread of any process;
//           the lane folder's owner.
// Promises  refuses while that process lives. Two at a time exclude each other by the file `lock`. Killed in
//           the middle it may be run again, any number of times: the outputs are the same.
// Does not  remove the folder.
#pragma once

#include <cstdint>

#include "agent/drain/run_outputs.hpp"

namespace jitquill::drain {

enum class Recovery : std::uint8_t {
#define RECOVERY(name, number, words) name = number,
#include "agent/drain/recovery.def"
#undef RECOVERY
};

// A constant string: what became of it, the cause, the cure.
const char* text(Recovery recovery) noexcept;

struct RecoverSettings {
  // Another pid namespace's processes cannot be asked whether they live: take it for dead.
  bool other_namespace = false;
  // Instead of the folder that the process wrote into; null = that.
  const char* output_folder = nullptr;
  Say say = nullptr;
};

// `lane_folder`: the folder with `lanes`, `journal` and `code` in it.
Recovery recover(const char* lane_folder, const RecoverSettings& settings) noexcept;

}  // namespace jitquill::drain
