// What a process keeps to itself of its lanes: cursors, free chunks, the lock. One private mapping that any
// child with memory of its own finds wiped (MADV_WIPEONFORK), so that it touches nothing of its parent's.
//
// Context   [hook]: reading and writing.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "agent/hooks/cpu.hpp"
#include "agent/lanes/layout.hpp"

namespace jitquill::lanes {

enum class PoolState : std::uint32_t {
  kNotMine = 0,  // a child, whose parent's page was wiped: what it does is lost, and counted
  kOn = 1,
  kOff = 2,
};

enum class Policy : std::uint32_t { kLossless, kDrop, kFlight };

// Chunks that may be handed out before a drain that had work lately is woken: 16 MiB, which one thread fills
// in no less than 10 ms, when it looks by itself. Of a small pool a quarter.
inline constexpr std::uint32_t kMostPatience = 64;

// Of a thread where nothing may be lost (Policy::kLossless): for a chunk, or for the lists.
inline constexpr std::uint64_t kMostWait_ns = 1'000'000'000;

inline constexpr std::size_t kChunkClasses = sizeof kChunkSizes / sizeof kChunkSizes[0];

// One per row of the lane table. Its thread's; a neighbour is never in the same pair of cache lines.
struct alignas(128) Cell {
  std::atomic<std::uint64_t> cursor;  // first: jitquill_lane_cursor points to it
  std::uint64_t chunk_begin;          // addresses; 0 = none yet
  std::uint64_t chunk_end;
  std::uint32_t chunk_number;  // of the last one it got; 0 = none yet
  std::uint32_t row;
  std::uint32_t tid;
  std::atomic<std::uint32_t> is_busy;  // its thread is taking a chunk: a fault handler in there gets none
  // PoolPage::room + 1 when no chunk was to be had: nothing changes before that does. 0 = there was one.
  std::uint32_t failed_at_room;
  std::uint64_t waited_ns;  // in this episode without a chunk
  std::uint64_t stack_low;  // its thread's own; 0 = unknown yet
  std::uint64_t stack_high;
  std::uint64_t oldest_chunk;  // flight: the lane's chunks, offsets, linked by ChunkHeader::next_free
  std::uint64_t newest_chunk;
  std::uint64_t chunk_count;
};
static_assert(sizeof(Cell) == 128);

struct PoolPage {
  std::atomic<PoolState> state;
  std::atomic<std::uint32_t> lock_word;     // pool_lock.hpp
  std::atomic<std::uint32_t> lock_turn;     // it was given back so often
  std::atomic<std::uint32_t> stuck_turn;    // whose owner had it for as long as anybody waits, + 1
  std::atomic<std::uint32_t> room;          // chunks that came back, rows that were freed; a futex
  std::atomic<std::uint32_t> room_waiters;  // threads asleep on it
  std::atomic<std::uint32_t> work;  // chunks that were handed out, and more where one is missing: a futex
  // Chunks that must be handed out since `drain_saw` to wake the drain; 0 = it is awake.
  std::atomic<std::uint32_t> drain_patience;
  std::atomic<std::uint32_t> drain_saw;          // of `work`
  std::atomic<std::uint64_t> waited_ns;          // by threads for room, all together
  std::atomic<std::uint64_t> lost_without_lane;  // records of threads that got no row yet, or of a child
  // Under the lock.
  std::uint64_t free_chunks[kChunkClasses];  // offsets; linked by ChunkHeader::next_free; 0 = none
  std::uint32_t free_count[kChunkClasses];
  std::uint32_t next_thread;
  std::uint32_t first_row_to_try;
  std::uint64_t backed_lanes;  // bytes of the lane table that have memory
  std::uint64_t grown_by_hooks;
  std::atomic<std::uint32_t> is_full;  // the file system had nothing left: only the drain tries again
  // Constant once `state` is set.
  Policy policy;
  std::uint8_t* base;         // of the file's mapping
  std::uint64_t size;         // bytes of address space, and the most that are used
  bool is_backed;             // all of the file has memory: the kernel cannot do so by address
  std::uint32_t end_key;      // pthread key whose destructor tells of a thread's end
  cpu::KeptCall set_end_key;  // pthread_setspecific; null: there is no such key
  const void* end_value;

  Cell* cells() noexcept { return reinterpret_cast<Cell*>(reinterpret_cast<std::uint8_t*>(this) + 4096); }
  bool has(const Cell* cell) noexcept { return cell >= cells() && cell < cells() + kMostLanes; }
  PoolHeader& header() const noexcept { return *reinterpret_cast<PoolHeader*>(base); }
  Lane& lane(std::uint32_t row) const noexcept { return reinterpret_cast<Lane*>(base + kLaneTableAt)[row]; }
  ChunkHeader& chunk(std::uint64_t offset) const noexcept {
    return *reinterpret_cast<ChunkHeader*>(base + offset);
  }
};
static_assert(sizeof(PoolPage) <= 4096);
inline constexpr std::size_t kPoolPageSize = 4096 + kMostLanes * sizeof(Cell);

extern constinit std::atomic<PoolPage*> g_pool_page;  // null: no pool was ever started

}  // namespace jitquill::lanes
