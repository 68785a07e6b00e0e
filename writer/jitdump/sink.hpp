// The sink of the format jitdump (docs/jitdump.md): jit-<pid>.dump, for perf inject --jit and samply.
//
// Context   one thread at a time (writer/sink/sink.hpp).
// Promises  the file is readable to its last byte after every call, so a killed process loses nothing that it
//           announced. Each function is one write.
// Does not  say that code is gone: the format cannot. Later code at the same place ends the older one.
#pragma once

#include "writer/sink/sink.hpp"

namespace jitquill {

// Null when memory is out. The caller deletes it.
Sink* make_jitdump_sink() noexcept;

}  // namespace jitquill
