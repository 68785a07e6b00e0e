// Runs a function one instruction at a time and compares what its frame events say with where the CFA and the
// caller's registers really are.
//
// Context   one thread at a time; SIGTRAP is taken while it runs.
#pragma once

#include <jitquill/jitquill.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tests/unit/adapter/capture.hpp"

namespace stepper {

struct Outcome {
  std::uint64_t result = 0;
  std::uint32_t steps = 0;  // instructions inside the function
  std::uint32_t mismatches = 0;
  std::uint32_t first_bad = 0;  // offset of the first instruction with a mismatch
  const char* what = "";
};

Outcome run(const capture::Code& code, std::span<const jitquill_frame_event> events,
            const std::vector<std::uint64_t>& arguments);

using Arguments = std::vector<std::vector<std::uint64_t>>;  // up to 8 each

// Steps the function once for each list of arguments and expects no mismatch. Then spoils each event in turn
// and expects every spoiled one to be caught, so the calls must reach every epilog and what is behind it.
void expect_true_frame(const capture::Code& code, const Arguments& calls);

}  // namespace stepper
