#include "agent/lanes/flight.hpp"

#include <sys/syscall.h>

#include <cerrno>

#include "agent/hooks/cpu.hpp"
#include "agent/lanes/chunks.hpp"

namespace jitquill::lanes::flight {
namespace {

constexpr std::uint64_t kLeast = 2;  // chunks of a lane

// Records that somebody would have read: of a post its first, of a pad none.
std::uint64_t events_in(const std::uint8_t* bytes, std::uint64_t size) noexcept {
  std::uint64_t count = 0;
  for (std::uint64_t block = 0; block < size; block += kBlockSize) {
    const auto* const records = reinterpret_cast<const Record*>(bytes + block + kBlockHeaderSize);
    for (std::size_t i = 0; i < kRecordsPerBlock; ++i) {
      if (records[i].when.load(std::memory_order_relaxed) == 0) continue;
      const RecordKind kind = kind_of(records[i].what.load(std::memory_order_relaxed));
      if (kind != RecordKind::kMore && kind != RecordKind::kPad) ++count;
    }
  }
  return count;
}

// The same of a chunk that is full, without a look at the records: to read them costs as much as to zero
// them.
std::uint64_t events_in_full(std::uint8_t* bytes, std::uint64_t size) noexcept {
  std::uint64_t count = 0;
  for (std::uint64_t block = 0; block < size; block += kBlockSize)
    count += kRecordsPerBlock - no_events_of(bytes + block).load(std::memory_order_relaxed);
  return count;
}

void overwrite(PoolPage& pool, Lane& lane, std::uint64_t offset, std::uint64_t lost) noexcept {
  ChunkHeader& chunk = pool.chunk(offset);
  if (lane.overwritten.load(std::memory_order_relaxed) == 0)
    lane.overwritten_since_ticks.store(chunk.start_ticks, std::memory_order_relaxed);
  (void)cpu::add_here(lane.overwritten, lost);
  chunk.state.store(ChunkState::kFree, std::memory_order_release);
  chunks::clear(pool.base + offset, chunk.size);
}

// Nobody else asks in flight, until the end.
void look_for_dead(PoolPage& pool) noexcept {
  const long pid = cpu::kernel_call(SYS_getpid);
  const std::uint32_t count = pool.header().lane_count.load(std::memory_order_relaxed);
  for (std::uint32_t row = 0; row < count; ++row) {
    Lane& lane = pool.lane(row);
    const bool is_live = lane.state.load(std::memory_order_relaxed) == LaneState::kLive;
    if (is_live && cpu::kernel_call(SYS_tgkill, pid, lane.tid, 0) == -ESRCH)
      lane.state.store(LaneState::kDead, std::memory_order_release);
  }
}

}  // namespace

bool has_its_share(const PoolPage& pool, const Cell& cell) noexcept {
  return cell.chunk_count >= kLeast &&
         pool.header().used_bytes.load(std::memory_order_relaxed) > pool.size / 2;
}

void append(PoolPage& pool, Cell& cell, std::uint64_t offset) noexcept {
  pool.chunk(offset).next_free = 0;
  if (cell.newest_chunk == 0)
    cell.oldest_chunk = offset;
  else
    pool.chunk(cell.newest_chunk).next_free = offset;
  cell.newest_chunk = offset;
  ++cell.chunk_count;
}

std::uint64_t overwrite_oldest(PoolPage& pool, Cell& cell) noexcept {
  const std::uint64_t offset = cell.oldest_chunk;
  if (offset == 0) return 0;
  cell.oldest_chunk = pool.chunk(offset).next_free;
  if (cell.oldest_chunk == 0) cell.newest_chunk = 0;
  --cell.chunk_count;
  overwrite(pool, pool.lane(cell.row), offset, events_in_full(pool.base + offset, pool.chunk(offset).size));
  return offset;
}

std::uint64_t overwrite_dead(PoolPage& pool, const Cell& cell) noexcept {
  if (cell.chunk_count >= kLeast) return 0;
  look_for_dead(pool);
  std::uint64_t oldest = 0;
  const std::uint64_t used = pool.header().used_bytes.load(std::memory_order_relaxed);
  for (std::uint64_t at = kChunksAt; at < used; at += pool.chunk(at).size) {
    const ChunkHeader& chunk = pool.chunk(at);
    if (chunk.state.load(std::memory_order_relaxed) != ChunkState::kUsed) continue;
    const Lane& lane = pool.lane(chunk.lane);
    const bool is_dead =
        lane.number == chunk.thread && lane.state.load(std::memory_order_relaxed) == LaneState::kDead;
    if (is_dead && (oldest == 0 || chunk.start_ticks < pool.chunk(oldest).start_ticks)) oldest = at;
  }
  if (oldest == 0) return 0;
  const ChunkHeader& chunk = pool.chunk(oldest);
  overwrite(pool, pool.lane(chunk.lane), oldest, events_in(pool.base + oldest, chunk.size));
  return oldest;
}

}  // namespace jitquill::lanes::flight
