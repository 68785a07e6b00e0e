// What killed processes left in the shared memory: kept for `jitquill recover`, and removed by rule.
//
// A lane folder goes when its process is dead, of this boot and of this namespace of process numbers, and it
// was emptied (at the end, or by recover), or is older than a day, or the dead together take more than the
// bound: then the oldest first. One whose lock is held, by recover or by another start, stays.
//
// Context   [life]: some system calls for each folder that is there.
// Promises  both ways of going are counted (dead_pools_swept, dead_pools_dropped).
#pragma once

#include <cstdint>

#include "agent/lanes/layout.hpp"

namespace jitquill::lanes {

// `parent`: LaneFolder::parent(). `most_bytes`: of the dead that stay.
void sweep_dead_pools(const char* parent, std::uint64_t most_bytes) noexcept;

// Of the process that a header names, as far as this process can tell: kUnknown where it is of another
// namespace, or /proc does not tell of one. Of another boot it is dead, and as a zombie.
enum class Life { kDead, kAlive, kUnknown };
Life life_of(const PoolHeader& header) noexcept;
// Its counter and clock go on.
bool is_of_this_boot(const PoolHeader& header) noexcept;

// Takes a lane folder for the caller alone: the descriptor that holds it, to be closed; -EWOULDBLOCK:
// somebody has it.
int lock_lane_folder(int folder) noexcept;

}  // namespace jitquill::lanes
