// Room in the lane of the calling thread: its row, its blocks, its chunks. The slow path of lane.hpp.
//
// Context   [hook]
// Promises  as lane.hpp. A handler that comes in between anywhere gets its own room; only a fault inside the
//           taking of a chunk, whose handler comes here again, finds none.
// Does not  bear more than 15 handlers in each other between a hook's reservation and this: the header of a
//           block has room for 16 reservations.
#pragma once

#include <cstddef>

#include "agent/lanes/record.hpp"

namespace jitquill::lanes {

// `count` records directly behind each other, at most kRecordsPerBlock; null: lost, and counted.
Record* reserve(std::size_t count) noexcept;

// The order of the two stores is what makes a record whole or not there.
inline void store_record(Record* at, std::uint64_t what, std::uint64_t when) noexcept {
  at->what.store(what, std::memory_order_relaxed);
  at->when.store(when, std::memory_order_release);
}

// What the hooks' xadd moved without taking: so that a cursor without room stays so, however often it is
// asked.
void pull_back() noexcept;

}  // namespace jitquill::lanes
