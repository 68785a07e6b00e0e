// What one piece of news becomes in a jitdump: records that must stand together, in this order.
//
// A group is [CODE_DEBUG_INFO] [CODE_UNWINDING_INFO] CODE_LOAD: perf keeps one pending debug and one pending
// unwinding record, and the next load takes both whatever its address. So a group is put into one buffer and
// written at once.
//
// Context   any; puts into the caller's buffer.
#pragma once

#include <cstdint>

#include "writer/bytes/bytes.hpp"
#include "writer/model/code.hpp"
#include "writer/model/status.hpp"
#include "writer/sink/sink.hpp"

namespace jitquill::jitdump {

// The whole group of one function. load.index names the ELF file that perf makes of it.
// `salt` is not 0 if other code of this file has the same bytes: perf from 6.17 on names its files by a hash
// of them and would give both functions the first one's name, so the dump, not the process, is made to
// differ. kEmptyCode, kTooLarge, kNoMemory: nothing stays in `out`. kUnwindingLeftOut (bad frame events),
// kLinesLeftOut: the rest is put; if both, the former, and `written` tells of each. written.bytes is not set.
// A group may be put once more with the same `written`: its twin is taken once.
Status put_group(Bytes& out, const CodeLoad& load, std::uint64_t salt, Written& written) noexcept;

// A move, with tables for the new place. perf unwinds there only if it is below the old one, and most other
// readers ignore moves: written.unwinding_without_room tells. kNoMemory: nothing stays in `out`.
Status put_move_group(Bytes& out, const CodeMove& move, Written& written) noexcept;

}  // namespace jitquill::jitdump
