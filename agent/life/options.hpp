// What the user asked for, from "key=value key=value".
//
// Values may be quoted with ' or ". What is unknown, out of
// range or not built yet is kept as a problem, to be said when the agent wakes, and the default stays.
//
// Context   [life]: no allocation, no output. Plain values afterwards.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "agent/base/fixed_text.hpp"
#include "agent/base/patterns.hpp"
#include "agent/drain/stream_target.hpp"
#include "agent/lanes/layout.hpp"
#include "agent/life/option_words.hpp"
#include "writer/sink/run_sink.hpp"

namespace jitquill {

struct OptionProblem {
  FixedText<96> what;  // key=value, cut
  FixedText<160> why;
};

// Where unwinding tables may seem to lie: nowhere, in the room behind the code, or also behind a twin.
enum class UnwindMode : std::uint8_t { kOff, kGap, kTwin };

// Smaller folders would hold little but their beginnings.
inline constexpr std::uint64_t kLeastMaxBytes = 64 * 1024;

// What a thread does whose events find no room.
enum class LanePolicy : std::uint8_t { kLossless, kDrop, kFlight };

// Less than the table of threads and a few chunks would be lost before the drain looks; more than a file of
// 64 GiB nobody has in memory.
inline constexpr std::uint64_t kLeastMemory = 1100 * 1024;
static_assert(kLeastMemory >= lanes::kChunksAt + 4 * lanes::kChunkSizes[0]);
inline constexpr std::uint64_t kMostMemory = std::uint64_t{64} << 30;

// Where perf maps go: /tmp, the output folder.
enum class PerfmapAt : std::uint8_t { kTmp, kDir, kBoth };

struct Options {
  std::uint32_t formats = 0;           // bit i = row i of sinks.def
  std::uint32_t intakes = 0;           // bit i = row i of intakes.def
  NamePatterns hooks;                  // which functions are traced
  NamePatterns stack;                  // of those, at whose entries the call stack is taken
  bool demangle = false;               // of names: patterns see both forms, outputs of run news the source's
  bool takes_return_addresses = true;  // of native functions; as it is when the library is loaded
  FixedText<2048> dir;                 // may hold the words of dir_template.hpp
  bool dir_was_given = false;
  FixedText<128> log;  // empty = none
  UnwindMode unwind = UnwindMode::kTwin;
  std::uint64_t max_bytes = 0;    // of a folder's files together, and of each file of run news; 0 = no limit
  std::uint32_t generations = 0;  // of such files, the newest; 0 = all
  bool records_children = true;
  bool reannounce = false;
  PerfmapAt perfmap_at = PerfmapAt::kTmp;
  LanePolicy policy = LanePolicy::kLossless;
  std::uint64_t memory_bytes = 0;
  bool move_records = false;    // a move is written as such, not as a load at the new place
  bool takes_own_dump = false;  // the code of a process that writes a dump by itself is in ours, too
  bool inlining = false;
  bool arch_clock = false;
  std::uint32_t sample_stack_bytes = 0;
  RunSettings run;      // eventlog.*, sample and sample.event
  StreamTarget stream;  // of the format that is not to be a file
  OptionWords words;    // what was taken
  bool verbose = false;
  bool help = false;

  bool samples_stacks() const noexcept { return run.samples_hz != 0 && sample_stack_bytes != 0; }

  static constexpr std::size_t kMaxProblems = 8;
  std::array<OptionProblem, kMaxProblems> problems;
  std::uint32_t problem_count = 0;  // may exceed kMaxProblems: the rest is only counted
};

// Whether formats= has it: a name of sinks.def.
bool writes(const Options& options, std::string_view format) noexcept;

// Every option at its default.
void set_defaults(Options& options) noexcept;

// Applies a text of options over what is set.
void apply(Options& options, std::string_view text) noexcept;

// Keeps a problem, to be said later. Both texts are cut to fit.
void note_problem(Options& options, std::string_view what, std::string_view why) noexcept;

// A row of the table, in words.
struct OptionText {
  std::string_view name;
  std::string_view values;
  std::string_view initial;
  std::string_view help;
  bool is_built;
};
std::size_t option_count() noexcept;
OptionText option_text(std::size_t index) noexcept;

// Calls say(line) for each line of the table, as help=1 prints it.
void for_each_help_line(void (*say)(std::string_view)) noexcept;

}  // namespace jitquill
