#include "agent/lanes/lane_room.hpp"

#include "agent/hooks/cpu.hpp"
#include "agent/lanes/lane.hpp"
#include "agent/lanes/lane_chunk.hpp"
#include "agent/lanes/lane_row.hpp"
#include "agent/lanes/pool_page.hpp"

namespace jitquill::lanes {

constinit std::atomic<PoolPage*> g_pool_page{nullptr};

namespace {

constexpr bool has_room(std::uint64_t cursor) noexcept {
  return (cursor & kNoRoomMask) != 0;
}

// The calling thread's in this pool; null: it has none yet, or one of a parent's.
Cell* own_cell(PoolPage& pool) noexcept {
  // The cursor is its cell's first member.
  auto* const cell = reinterpret_cast<Cell*>(jitquill_lane_cursor);
  return pool.has(cell) ? cell : nullptr;
}

void pull_back(std::atomic<std::uint64_t>& cursor) noexcept {
  const std::uint64_t at = cursor.load(std::memory_order_relaxed);
  if (!has_room(at)) (void)cpu::swap_here_if(cursor, at, at & ~std::uint64_t{kBlockHeaderSize - 1});
}

// Moves a cursor without room to where there is some. If a handler does so meanwhile, its move stands.
bool roll(PoolPage& pool, Cell& cell, std::uint64_t at) noexcept {
  const std::uint64_t block = at & ~std::uint64_t{kBlockSize - 1};
  if (block > cell.chunk_begin && block < cell.chunk_end) {
    (void)cpu::swap_here_if(cell.cursor, at, block + kBlockHeaderSize);
    return true;
  }
  if (next_chunk(pool, cell)) return true;
  pull_back(cell.cursor);
  return false;
}

// Says that so many records from `at` on are no event of their own.
void note_no_events(std::uint64_t at, std::uint64_t count) noexcept {
  auto* const block = reinterpret_cast<std::uint8_t*>(at & ~std::uint64_t{kBlockSize - 1});
  (void)cpu::add_here(no_events_of(block), count);
}

// The rest of a block is too short for what comes: whoever reads goes on in the next one.
void pad(std::uint64_t at, std::uint64_t room) noexcept {
  note_no_events(at, room / sizeof(Record));
  auto* const record = reinterpret_cast<Record*>(at);
  record->what.store(what_word(RecordKind::kPad, 0, 0), std::memory_order_relaxed);
  record->when.store(when_word(cpu::ticks(), 0), std::memory_order_release);
}

Record* reserve_in(PoolPage& pool, Cell& cell, std::size_t count) noexcept {
  for (;;) {
    const std::uint64_t at = cell.cursor.load(std::memory_order_relaxed);
    if (!has_room(at)) {
      if (!roll(pool, cell, at)) return nullptr;
      continue;
    }
    const std::uint64_t room = kBlockSize - (at & (kBlockSize - 1));
    const std::uint64_t wanted = count * sizeof(Record);
    const bool fits = wanted <= room;
    if (!cpu::swap_here_if(cell.cursor, at, at + (fits ? wanted : room))) continue;
    if (!fits) {
      pad(at, room);
      continue;
    }
    if (count > 1) note_no_events(at, count - 1);
    return reinterpret_cast<Record*>(at);
  }
}

}  // namespace

Record* reserve(std::size_t count) noexcept {
  PoolPage* const pool = g_pool_page.load(std::memory_order_acquire);
  if (pool == nullptr) return nullptr;
  Cell* cell = nullptr;
  if (pool->state.load(std::memory_order_acquire) != PoolState::kNotMine) {
    cell = own_cell(*pool);
    if (cell == nullptr) cell = open_lane(*pool);
    if (cell != nullptr) return reserve_in(*pool, *cell, count);
  } else {
    pool->lost_without_lane.fetch_add(1, std::memory_order_relaxed);
  }
  pull_back();
  return nullptr;
}

void pull_back() noexcept {
  if (jitquill_lane_cursor != nullptr) pull_back(*jitquill_lane_cursor);
}

}  // namespace jitquill::lanes
