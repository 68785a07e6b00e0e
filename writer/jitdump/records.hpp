// The records of a jitdump file (docs/jitdump.md), version 1, each put by one function, field by field.
//
// A group is [CODE_DEBUG_INFO] [CODE_UNWINDING_INFO] CODE_LOAD: perf keeps one pending debug and one pending
// unwinding record, and the next load takes both whatever its address. So a group is put into one buffer and
// written at once.
//
// Context   any; puts into the caller's buffer, host byte order (the magic tells readers which).
// Does not  write CODE_MOVE: most readers ignore it. Code that moved is loaded again at its new address.
#pragma once

#include <cstdint>

#include "writer/bytes/bytes.hpp"
#include "writer/model/code.hpp"
#include "writer/model/status.hpp"
#include "writer/sink/sink.hpp"

namespace jitquill::jitdump {

inline constexpr std::uint32_t kMagic = 0x4A695444;
inline constexpr std::uint32_t kVersion = 1;
inline constexpr std::uint32_t kHeaderSize = 40;           // exactly: perf misreads a longer header
inline constexpr std::uint64_t kMaxCodeSize = 0x7FFFFFFF;  // perf keeps it in a signed 32-bit int

enum class RecordId : std::uint32_t {
  kCodeLoad = 0,
  kCodeMove = 1,
  kCodeDebugInfo = 2,
  kCodeClose = 3,
  kCodeUnwindingInfo = 4,
};

void put_header(Bytes& out, const Origin& origin) noexcept;

// The whole group of one function. load.index names the ELF file that perf makes of it.
// kEmptyCode, kTooLarge, kNoMemory: nothing stays in `out`. kUnwindingLeftOut (bad frame events),
// kLinesLeftOut: the rest is put; if both, the former, and `written` tells of each. written.bytes is not set.
Status put_group(Bytes& out, const CodeLoad& load, Written& written) noexcept;

// The last bytes of a file: perf reads nothing behind it.
void put_close(Bytes& out, std::uint64_t when_ns) noexcept;

}  // namespace jitquill::jitdump
