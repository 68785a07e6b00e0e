// The drain's side of pool.hpp: what it gives back, and what it keeps ready.
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <climits>

#include "agent/base/thread_id.hpp"
#include "agent/lanes/chunks.hpp"
#include "agent/lanes/lane_row.hpp"
#include "agent/lanes/pool.hpp"
#include "agent/lanes/pool_lock.hpp"
#include "writer/bytes/raw_calls.hpp"

namespace jitquill::lanes {
namespace {

constexpr std::uint32_t kSpare[kChunkClasses] = {4, 2, 2};

PoolPage& page() noexcept {
  return *g_pool_page.load(std::memory_order_acquire);
}

void tell_of_room(PoolPage& pool) noexcept {
  pool.room.fetch_add(1, std::memory_order_seq_cst);
  if (pool.room_waiters.load(std::memory_order_seq_cst) != 0) wake(pool.room, INT_MAX);
}

// Hooks hold it for microseconds; one that was stopped in there (SIGSTOP) is waited for.
template <class Body>
void under_lock(PoolPage& pool, Body body) noexcept {
  const PoolLock lock = PoolLock::of_drain(pool);
  if (lock.is_taken()) body();
}

}  // namespace

// Free first: whoever recovers after a kill takes nothing from a chunk that is half cleared. In flight the
// chunks of a thread stay its own.
void Pool::give_back(std::uint64_t offset) noexcept {
  PoolPage& pool = page();
  ChunkHeader& chunk = pool.chunk(offset);
  const Lane& lane = pool.lane(chunk.lane);
  const bool is_owned =
      lane.number == chunk.thread && lane.state.load(std::memory_order_acquire) == LaneState::kLive;
  if (pool.policy == Policy::kFlight && is_owned) return;
  chunk.state.store(ChunkState::kFree, std::memory_order_release);
  chunks::clear(pool.base + offset, chunk.size);
  under_lock(pool, [&] { chunks::link_free(pool, offset); });
  tell_of_room(pool);
}

void Pool::quarantine(std::uint64_t offset) noexcept {
  if (page().policy == Policy::kFlight) return;  // its thread may be about to use it again
  page().chunk(offset).state.store(ChunkState::kQuarantined, std::memory_order_release);
}

bool Pool::is_thread_gone(std::uint32_t row) noexcept {
  Lane& lane = page().lane(row);
  if (lane.state.load(std::memory_order_acquire) != LaneState::kLive) return true;
  if (raw::call(SYS_tgkill, current_pid(), lane.tid, 0) != -ESRCH) return false;
  lane.state.store(LaneState::kDead, std::memory_order_release);
  return true;
}

void Pool::free_row(std::uint32_t row) noexcept {
  PoolPage& pool = page();
  if (pool.lane(row).state.load(std::memory_order_acquire) != LaneState::kDead) return;
  under_lock(pool, [&] { free_lane(pool, row); });
  tell_of_room(pool);
}

bool Pool::await_busy(std::uint64_t most_ns) noexcept {
  PoolPage& pool = page();
  if (pool.policy != Policy::kFlight) return true;
  const std::uint64_t start_ns = kernel_monotonic_ns();
  const std::uint32_t rows = pool.header().lane_count.load(std::memory_order_acquire);
  for (std::uint32_t row = 0; row < rows; ++row) {
    const Cell& cell = pool.cells()[row];
    while (cell.is_busy.load(std::memory_order_seq_cst) != 0) {
      if (kernel_monotonic_ns() - start_ns >= most_ns) return false;
      (void)cpu::kernel_call(SYS_sched_yield);
    }
  }
  return true;
}

void Pool::keep_spare() noexcept {
  PoolPage& pool = page();
  pool.is_full.store(0, std::memory_order_relaxed);
  for (std::uint32_t chunk_class = 0; chunk_class < kChunkClasses; ++chunk_class) {
    bool is_made = true;
    while (is_made) {
      // One at a time: a hook may wait for the lock.
      under_lock(pool, [&] {
        is_made = pool.free_count[chunk_class] < kSpare[chunk_class] &&
                  pool.header().used_bytes.load(std::memory_order_relaxed) < pool.size / 2;
        const std::uint64_t offset = is_made ? chunks::grow(pool, chunk_class) : 0;
        is_made = offset != 0;
        if (is_made) chunks::link_free(pool, offset);
      });
    }
  }
}

std::uint32_t Pool::wait_for_work(std::uint32_t seen, std::uint64_t most_ns, bool is_patient) noexcept {
  PoolPage& pool = page();
  constexpr std::uint64_t kShare = 4 * kChunkSizes[kChunkClasses - 1];
  const std::uint32_t patience =
      is_patient ? static_cast<std::uint32_t>(std::clamp<std::uint64_t>(pool.size / kShare, 1, kMostPatience))
                 : 1;
  pool.drain_saw.store(seen, std::memory_order_relaxed);
  pool.drain_patience.store(patience, std::memory_order_seq_cst);
  const std::uint32_t work = pool.work.load(std::memory_order_seq_cst);
  if (work - seen < patience) sleep_on(pool.work, work, most_ns);
  pool.drain_patience.store(0, std::memory_order_relaxed);
  return pool.work.load(std::memory_order_relaxed);
}

std::uint64_t Pool::waited_ns() noexcept {
  return page().waited_ns.load(std::memory_order_relaxed);
}

void Pool::set_ended() noexcept {
  page().header().is_ended.store(1, std::memory_order_release);
}

}  // namespace jitquill::lanes
