// The header of a trace: five sections about the process, its clock and the options in force.
//
// Context   any; puts into the caller's buffer.
// Promises  each section is there, as OpenJ9's formatter needs it; strings end with a NUL. The size is a
//           multiple of 8, so that aligned records follow.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "writer/bytes/bytes.hpp"
#include "writer/model/status.hpp"
#include "writer/openj9/target.hpp"

namespace jitquill::openj9 {

// Ticks are ns. The formatter computes their rate from the records; stamps by this clock make it exact.
struct Clock {
  std::uint64_t start_ticks = 0;  // not 0; that of start_ms, which is a whole one
  std::uint64_t start_ms = 0;     // since 1970 UTC

  static constexpr std::uint64_t kTicksPerMs = 1'000'000;

  struct Stamp {
    std::uint64_t ticks, ms;
  };
  // The first edge of a millisecond that is not before `ticks`, at least one behind the start.
  constexpr Stamp stamp(std::uint64_t ticks) const noexcept {
    const std::uint64_t since = ticks > start_ticks ? ticks - start_ticks : 1;
    const std::uint64_t ms = (since - 1) / kTicksPerMs + 1;
    return {start_ticks + ms * kTicksPerMs, start_ms + ms};
  }
  // Of a tick that is not before the start.
  constexpr std::uint64_t ms_of(std::uint64_t ticks) const noexcept {
    return start_ms + (ticks - start_ticks) / kTicksPerMs;
  }
  // Begins at the edge of the millisecond that `ticks`, which is `unix_ns` on the wall clock, lies in.
  static constexpr Clock at(std::uint64_t ticks, std::uint64_t unix_ns) noexcept {
    const std::uint64_t into = unix_ns % kTicksPerMs;
    // A machine that has been up for less than that begins with its first tick.
    return {ticks > into ? ticks - into : 1, unix_ns / kTicksPerMs};
  }
};

enum class Type : std::uint8_t { kInternal = 0, kExternal = 1 };

// As the formatter's tables number them.
struct Processor {
  std::uint32_t architecture, subtype;
};
#if defined(__x86_64__)
inline constexpr Processor kProcessor{6, 12};  // AMD64, Opteron: it has no other of that kind
#elif defined(__aarch64__)
inline constexpr Processor kProcessor{8, 14};
#elif defined(__riscv)
inline constexpr Processor kProcessor{7, 13};
#elif defined(__i386__)
inline constexpr Processor kProcessor{1, 0};
#else
inline constexpr Processor kProcessor{0, 0};
#endif

struct Header {
  static constexpr std::uint32_t kLeastRecord = 192;  // the formatter reads so much of each record's header

  std::uint32_t record_size = 8192;  // a multiple of 8
  Clock clock;
  Type type = Type::kExternal;
  std::uint32_t generations = 1;
  std::string_view service;  // what traces, with its version; up to a NUL
  std::string_view startup;  // of the command line, a NUL behind each
  std::string_view active;   // options in force, a NUL behind each
  std::uint32_t architecture = kProcessor.architecture;
  std::uint32_t word_size = 8 * sizeof(void*);  // bits
  std::uint32_t processors = 1;                 // online
  std::uint32_t subtype = kProcessor.subtype;
  std::uint32_t page_size = 4096;
};

// kTooLarge: a record size that is none, or sections beyond 2 GiB.
template <Target kTarget>
Status put_header(const Header& header, Bytes& out) noexcept;

}  // namespace jitquill::openj9
