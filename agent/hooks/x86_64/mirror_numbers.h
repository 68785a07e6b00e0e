// What native*.S need to know of the return mirror (hooks/mirror.hpp), as plain numbers.
//
// Context   any.
#pragma once

// Of a slot from its mirror word. No multiple of a page: else both would be in one place of the store buffer,
// which costs 11 ns a call.
#define JITQUILL_MIRROR_DISTANCE 0x200000000840
// And from its copy, 16 TiB above: one of the two may be written over.
#define JITQUILL_MIRROR_COPY_DISTANCE 0x100000000840
#define JITQUILL_MIRROR_PIECE_SHIFT 26
#define JITQUILL_MIRROR_PIECE_MASK 0x1fffff
#define JITQUILL_MIRROR_IS_THERE 1
#define JITQUILL_MIRROR_TRY_AGAIN 1
#define JITQUILL_MIRROR_ENTRY_ONLY 2

// Sites of `mcount` that are known to have their slot above the frame pointer, by the address that they
// return to.
#define JITQUILL_MCOUNT_SITE_MASK 0xfff

// A return hook has one entry for each value of an address's low bits.
#define JITQUILL_RETURN_ENTRY_MASK 63
#define JITQUILL_RETURN_ENTRY_SHIFT 3
#define JITQUILL_RETURN_ENTRY_SIZE 8
#define JITQUILL_RETURN_HOOK_SIZE 512

// Calls of `mcount` and `__fentry__` in functions that nobody wants, by the address that they return to.
#define JITQUILL_LEFT_ALONE_MASK 0x3fff

// Names of hooks, the libraries that show them, and for each name of each the entry that wakes the agent.
#define JITQUILL_MOST_NAMES 8
#define JITQUILL_MOST_NAME_LIBRARIES 4
#define JITQUILL_WAKE_ENTRY_SIZE 16
