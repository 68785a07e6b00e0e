// Whether the host writes a perf map of its own: the files that it opens are looked at, by their name only.
//
// Context   the host's thread, behind an open that succeeded: so the path can be read. Async-signal-safe
//           where the path is another one.
// Promises  an open of another file costs a few comparisons. A stream is line buffered from then on, so that
//           lines are in the file when they are complete; nothing else of what was opened is changed.
#pragma once

#include <cstdio>

namespace jitquill::preload {

// At our constructor: what ERL_SYM_MAP_FILE says.
void note_map_file() noexcept;

void see_opened(const char* path, int flags);
void see_opened(const char* path, const char* mode, std::FILE* stream);

}  // namespace jitquill::preload
