// The records of a jitdump file (docs/jitdump.md), version 1, each put by one function, field by field.
//
// A group is [CODE_DEBUG_INFO] [CODE_UNWINDING_INFO] CODE_LOAD: perf keeps one pending debug and one pending
// unwinding record, and the next load takes both whatever its address. So a group is put into one buffer and
// written at once.
//
// Context   any; puts into the caller's buffer, host byte order (the magic tells readers which).
#pragma once

#include <cstdint>

#include "writer/bytes/bytes.hpp"
#include "writer/model/code.hpp"
#include "writer/model/status.hpp"
#include "writer/sink/sink.hpp"

namespace jitquill::jitdump {

inline constexpr std::uint32_t kMagic = 0x4A695444;
inline constexpr std::uint32_t kVersion = 1;
inline constexpr std::uint32_t kHeaderSize = 40;  // exactly: perf misreads a longer header
inline constexpr std::uint32_t kMaxNameSize = 4096;

enum class RecordId : std::uint32_t {
  kCodeLoad = 0,
  kCodeMove = 1,
  kCodeDebugInfo = 2,
  kCodeClose = 3,
  kCodeUnwindingInfo = 4,
};

void put_header(Bytes& out, const Origin& origin) noexcept;

// The whole group of one function. kEmptyCode, kTooLarge, kNoMemory: nothing stays in `out`.
// kUnwindingLeftOut: bad frame events; the rest is put.
Status put_group(Bytes& out, const CodeLoad& load, Written& written) noexcept;

// The last bytes of a file: perf reads nothing behind it.
void put_close(Bytes& out, std::uint64_t when_ns) noexcept;

}  // namespace jitquill::jitdump
