// Runs a function one instruction at a time and compares what its frame events say with where the CFA and the
// caller's registers really are.
//
// Context   one thread at a time; SIGTRAP is taken while it runs.
#pragma once

#include <jitquill/jitquill.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tests/unit/adapter/capture.hpp"

namespace stepper {

// Registers are bits by their DWARF numbers.
inline constexpr std::uint32_t kSystemVPreserved = 1u << 3 | 1u << 6 | 0xF000u;
inline constexpr std::uint32_t kWindowsPreserved = kSystemVPreserved | 1u << 4 | 1u << 5;  // rsi, rdi too

// The state before an instruction.
struct Step {
  std::uint32_t offset = 0;
  std::array<std::uint64_t, 16> registers{};
  std::vector<std::uint8_t> stack;  // from the stack pointer up to the CFA

  std::optional<std::uint64_t> load(std::uint64_t address) const;
};

// One call.
struct Trace {
  std::uint64_t cfa = 0;
  std::vector<Step> steps;  // the first is the entry
  std::uint64_t result = 0;
};

using Arguments = std::vector<std::vector<std::uint64_t>>;  // up to 8 each

Trace run(const capture::Code& code, const std::vector<std::uint64_t>& arguments);

// What the events get wrong first; empty where they are true at every step.
std::string first_mismatch(const capture::Code& code, std::span<const jitquill_frame_event> events,
                           const Trace& trace, std::uint32_t preserved = kSystemVPreserved);

// Steps the function once for each list of arguments and expects no mismatch, neither in the events nor in
// what libdw makes of the writer's .eh_frame of them. Then spoils each event in turn and expects every
// spoiled one to be caught, so the calls must reach every epilog and what is behind it.
void expect_true_frame(const capture::Code& code, const Arguments& calls,
                       std::uint32_t preserved = kSystemVPreserved);

}  // namespace stepper
