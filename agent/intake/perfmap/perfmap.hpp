// The intake of runtimes that write a perf map of their own: names and places, to which we add the bytes
// (docs/intake-perfmap.md). A thread of ours reads the file while it grows.
//
// A runtime that was loaded with RTLD_DEEPBIND opens its map unseen: so where libraries came, looks
// (lookout.hpp) also find a map that was not there when the process began.
//
// Context   [notify]: the host's thread that has just opened the file.
// Promises  no thread and no descriptor where no runtime writes such a file.
#pragma once

namespace jitquill::intake::perfmap {

// The host has opened its own map, or the file that ERL_SYM_MAP_FILE names, to write it (preload/).
void opened(const char* path);

}  // namespace jitquill::intake::perfmap
