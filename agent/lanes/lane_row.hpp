// The row of a thread in the lane table: taken at its first record, freed when it is gone.
//
// Context   open_lane(): [hook]. free_lane(): [drain], under the pool's lock.
#pragma once

#include <cstdint>

#include "agent/lanes/pool_page.hpp"

namespace jitquill::lanes {

// A row for the calling thread, and its cursor, without room yet. Null: all rows are taken, or there is no
// memory for another, or the lists were not to be had, or a fault handler asks from inside. The record that
// it was for is counted as lost then; once there is a row, in that.
Cell* open_lane(PoolPage& pool) noexcept;

// Of a thread that is gone (LaneState::kDead) and whose chunks were all given back.
void free_lane(PoolPage& pool, std::uint32_t row) noexcept;

}  // namespace jitquill::lanes
