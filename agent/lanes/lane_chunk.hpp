// The next chunk for a lane, by the policy.
//
// Context   [hook]
#pragma once

#include "agent/lanes/pool_page.hpp"

namespace jitquill::lanes {

// The cursor of `cell`, the calling thread's, has no room in its chunk: gives it some. False: lost, and
// counted.
bool next_chunk(PoolPage& pool, Cell& cell) noexcept;

}  // namespace jitquill::lanes
