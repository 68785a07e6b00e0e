// The sink of the format gdb (docs/gdb.md): objects in this process's memory, for a debugger that runs it or
// attaches to it.
//
// Context   one thread at a time (writer/sink/sink.hpp).
// Promises  after every call a debugger sees the functions that live, and no others. Makes no file.
// Does not  tell of inlined calls, or of the bytes of code: a debugger reads those where they run.
#pragma once

#include "writer/sink/sink.hpp"

namespace jitquill {

// Null when memory is out. The caller deletes it.
Sink* make_gdb_sink() noexcept;

}  // namespace jitquill
