#include "agent/lanes/lane_row.hpp"

#include <sys/syscall.h>

#include "agent/hooks/cpu.hpp"
#include "agent/lanes/chunks.hpp"
#include "agent/lanes/lane.hpp"
#include "agent/lanes/pool_lock.hpp"
#include "agent/lanes/signals_held.hpp"

namespace jitquill::lanes {
namespace {

constexpr std::uint64_t kPageSize = 4096;

// Rows lie in pages that get their memory when the first of them is used.
bool back_row(PoolPage& pool, std::uint32_t row) noexcept {
  const std::uint64_t end = (std::uint64_t{row} + 1) * sizeof(Lane);
  if (end <= pool.backed_lanes) return true;
  if (!chunks::back(pool, kLaneTableAt + pool.backed_lanes, kPageSize)) return false;
  pool.backed_lanes += kPageSize;
  return true;
}

// A thread that had this number is gone, whatever the drain knows.
void end_former(PoolPage& pool, std::uint32_t tid) noexcept {
  const std::uint32_t count = pool.header().lane_count.load(std::memory_order_relaxed);
  for (std::uint32_t row = 0; row < count; ++row) {
    Lane& lane = pool.lane(row);
    if (lane.tid == tid && lane.state.load(std::memory_order_relaxed) == LaneState::kLive)
      lane.state.store(LaneState::kDead, std::memory_order_release);
  }
}

bool find_row(PoolPage& pool, std::uint32_t& found) noexcept {
  std::atomic<std::uint32_t>& count = pool.header().lane_count;
  const std::uint32_t used = count.load(std::memory_order_relaxed);
  for (std::uint32_t row = pool.first_row_to_try; row < used; ++row) {
    if (pool.lane(row).state.load(std::memory_order_acquire) != LaneState::kFree) continue;
    pool.first_row_to_try = row + 1;
    found = row;
    return true;
  }
  pool.first_row_to_try = used;
  if (used >= kMostLanes || !back_row(pool, used)) return false;
  found = used;
  pool.first_row_to_try = used + 1;
  count.store(used + 1, std::memory_order_release);
  return true;
}

// The row is in the table, state kFree, all else as it was left.
Cell& fill_row(PoolPage& pool, std::uint32_t row, std::uint32_t tid) noexcept {
  Lane& lane = pool.lane(row);
  lane.tid = tid;
  lane.number = pool.next_thread++;
  lane.chunk_number.store(0, std::memory_order_relaxed);
  lane.left_chunk.store(0, std::memory_order_relaxed);
  lane.lost.store(0, std::memory_order_relaxed);
  lane.lost_since_ticks.store(0, std::memory_order_relaxed);
  lane.overwritten.store(0, std::memory_order_relaxed);
  lane.overwritten_since_ticks.store(0, std::memory_order_relaxed);
  lane.state.store(LaneState::kLive, std::memory_order_release);
  Cell& cell = pool.cells()[row];
  cell.cursor.store(0, std::memory_order_relaxed);
  cell.chunk_begin = cell.chunk_end = 0;
  cell.chunk_number = 0;
  cell.row = row;
  cell.tid = tid;
  cell.is_busy.store(0, std::memory_order_relaxed);
  cell.failed_at_room = 0;
  cell.waited_ns = 0;
  cell.stack_low = cell.stack_high = 0;
  cell.oldest_chunk = cell.newest_chunk = cell.chunk_count = 0;
  return cell;
}

// Of the calling thread: records for which it got no row of this pool.
struct Missed {
  const PoolPage* pool;
  std::uint64_t count;
  std::uint64_t since_ticks;
};
[[gnu::tls_model("initial-exec")]] constinit thread_local Missed t_missed{};

void note_missed(PoolPage& pool) noexcept {
  if (t_missed.pool != &pool) t_missed = {&pool, 0, cpu::ticks()};
  ++t_missed.count;
  pool.header().lost_without_lane.fetch_add(1, std::memory_order_relaxed);
  pool.lost_without_lane.fetch_add(1, std::memory_order_relaxed);
}

// It has a row: they are lost as any that found no room, and have their place.
void take_over_missed(PoolPage& pool, const Cell& cell) noexcept {
  const Missed missed = t_missed;
  if (missed.pool != &pool) return;
  t_missed = {};
  Lane& lane = pool.lane(cell.row);
  lane.lost_since_ticks.store(missed.since_ticks, std::memory_order_relaxed);
  (void)cpu::add_here(lane.lost, missed.count);
  pool.header().lost_without_lane.fetch_sub(missed.count, std::memory_order_relaxed);
  pool.lost_without_lane.fetch_sub(missed.count, std::memory_order_relaxed);
}

Cell* open_alone(PoolPage& pool) noexcept {
  // A handler may have been faster: of a signal before they were held, of a fault before the lock.
  auto* const before = reinterpret_cast<Cell*>(jitquill_lane_cursor);
  if (pool.has(before)) return before;
  const auto tid = static_cast<std::uint32_t>(cpu::kernel_call(SYS_gettid));
  end_former(pool, tid);
  std::uint32_t row = 0;
  if (!find_row(pool, row)) return nullptr;
  Cell& cell = fill_row(pool, row, tid);
  jitquill_lane_cursor = &cell.cursor;
  return &cell;
}

}  // namespace

Cell* open_lane(PoolPage& pool) noexcept {
  const SignalsHeld held;
  Cell* cell = nullptr;
  {
    const PoolLock lock(pool);
    if (lock.is_taken()) cell = open_alone(pool);
  }
  cell != nullptr ? take_over_missed(pool, *cell) : note_missed(pool);
  return cell;
}

void free_lane(PoolPage& pool, std::uint32_t row) noexcept {
  pool.lane(row).state.store(LaneState::kFree, std::memory_order_release);
  if (row < pool.first_row_to_try) pool.first_row_to_try = row;
}

}  // namespace jitquill::lanes
