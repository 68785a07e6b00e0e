// The sink of the format perfmap (docs/perfmap.md): perf-<pid>.map, for perf without an inject.
//
// Context   one thread at a time (writer/sink/sink.hpp).
// Promises  the file ends with a whole line after every call, so a killed process loses nothing that it
//           announced. Each function is one write to each place. Of two places, one that fails is given up:
//           the call says why, and the other goes on.
// Does not  say that code is gone, or when which code was where: the format cannot.
#pragma once

#include "writer/sink/sink.hpp"

namespace jitquill {

// Null when memory is out. The caller deletes it.
Sink* make_perfmap_sink() noexcept;

}  // namespace jitquill
