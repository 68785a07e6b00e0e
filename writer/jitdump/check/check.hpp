// Checks a jitdump file by the letter of the format and by what its readers do with it (docs/jitdump.md).
//
// Context   any; allocates. Not for a host: programs that read dumps use it.
// Promises  never reads outside of the file, whatever is in it, and takes time and memory in proportion to
//           its size. Goes on behind a fault wherever the next record can be found.
// Does not  know what the code was meant to be: a wrong name or a wrong frame that is well-formed passes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "writer/jitdump/check/finding.hpp"

namespace jitquill::jitdump {

// What is known of a file beside its bytes.
struct Expected {
  std::optional<std::uint32_t> pid;        // of the process that wrote it
  std::optional<std::uint64_t> latest_ns;  // no stamp is later
  bool was_killed = false;  // its process: the last record may be cut off, and its group be incomplete
};

struct CheckResult {
  Findings findings;
  bool is_jitdump = true;  // false: the magic is another
  bool is_torn = false;    // ends inside a record
  bool is_closed = false;  // ends with a close record
  std::uint64_t functions = 0;
  std::uint64_t records = 0;
  std::uint64_t whole_bytes = 0;  // of the header and the records that can be read
};

CheckResult check(std::span<const std::uint8_t> file, const Expected& expected = {});

// The process that `base_name` is of, if it is one that perf accepts: jit-<pid>.dump.
std::optional<std::uint32_t> pid_of_dump(std::string_view base_name) noexcept;

}  // namespace jitquill::jitdump
