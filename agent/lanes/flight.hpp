// Policy flight: what is overwritten, so that the newest is there when the process ends.
//
// Context   [hook], asynchronous signals blocked; a thread's own lane, overwrite_dead() under the
//           pool's lock.
// Promises  what is overwritten is counted in its lane (Lane::overwritten), and left out by whoever reads
//           meanwhile.
#pragma once

#include <cstdint>

#include "agent/lanes/pool_page.hpp"

namespace jitquill::lanes::flight {

// Two chunks, or half of the memory is used.
bool has_its_share(const PoolPage& pool, const Cell& cell) noexcept;

// The chunk is the lane's newest.
void append(PoolPage& pool, Cell& cell, std::uint64_t offset) noexcept;

// The lane's oldest, without its records; 0: it has none.
std::uint64_t overwrite_oldest(PoolPage& pool, Cell& cell) noexcept;

// The oldest chunk of all threads that are gone, for a lane that has not got its share; 0: there is none.
std::uint64_t overwrite_dead(PoolPage& pool, const Cell& cell) noexcept;

}  // namespace jitquill::lanes::flight
