#include "agent/lanes/lane_chunk.hpp"

#include <sys/prctl.h>
#include <sys/syscall.h>

#include <optional>

#include "agent/hooks/cpu.hpp"
#include "agent/lanes/chunks.hpp"
#include "agent/lanes/flight.hpp"
#include "agent/lanes/lane_row.hpp"
#include "agent/lanes/own_stack.hpp"
#include "agent/lanes/pool_lock.hpp"
#include "agent/lanes/signals_held.hpp"

namespace jitquill::lanes {
namespace {

// Where a chunk that nobody else knows yet serves as working memory: hosts' signal stacks may be small. What
// is used of it is zero again afterwards.
std::uint8_t* scratch_in(PoolPage& pool, std::uint64_t offset) noexcept {
  return pool.base + offset + kBlockHeaderSize;
}
constexpr std::size_t kScratchSize = kBlockSize - kBlockHeaderSize;
static_assert(kMapsScratchSize <= kScratchSize && cpu::kVectorAreaSize <= kScratchSize);

void zero(std::uint8_t* memory, std::size_t size) noexcept {
  auto* const words = reinterpret_cast<std::uint64_t*>(memory);
  for (std::size_t i = 0; i < size / sizeof *words; ++i) words[i] = 0;
}

void lose(PoolPage& pool, Cell& cell) noexcept {
  Lane& lane = pool.lane(cell.row);
  if (lane.lost.load(std::memory_order_relaxed) == 0)
    lane.lost_since_ticks.store(cpu::ticks(), std::memory_order_relaxed);
  (void)cpu::add_here(lane.lost, 1);
}

// Fills what the header says of where its thread runs.
void note_stacks(PoolPage& pool, Cell& cell, std::uint64_t offset) noexcept {
  ChunkHeader& chunk = pool.chunk(offset);
  const auto here = reinterpret_cast<std::uint64_t>(__builtin_frame_address(0));
  const StackBounds handlers = signal_stack();
  chunk.signal_stack_low = handlers.low;
  chunk.signal_stack_high = handlers.high;
  if (cell.stack_high == 0 && !handlers.has(here)) {
    const StackBounds found = own_stack(here, reinterpret_cast<char*>(scratch_in(pool, offset)));
    zero(scratch_in(pool, offset), kMapsScratchSize);
    cell.stack_low = found.low;
    cell.stack_high = found.high;
  }
  chunk.stack_low = cell.stack_low;
  chunk.stack_high = cell.stack_high;
}

// So that its destructor tells when the thread ends. The one function of libc that is called from here.
void set_end_key(PoolPage& pool, std::uint64_t offset) noexcept {
  if (pool.set_end_key == nullptr) return;
  std::uint8_t* const area = scratch_in(pool, offset);
  static_assert(kBlockHeaderSize % 64 == 0);
  zero(area, cpu::kVectorAreaSize);  // not all of it is: old records have their `what` still
  (void)cpu::jitquill_call_keeping_vectors(pool.set_end_key, pool.end_key, pool.end_value, area);
  zero(area, cpu::kVectorAreaSize);
}

// All of the header but `size`, which stays; the state last.
void publish(PoolPage& pool, Cell& cell, std::uint64_t offset, std::uint32_t number) noexcept {
  Lane& lane = pool.lane(cell.row);
  ChunkHeader& chunk = pool.chunk(offset);
  note_stacks(pool, cell, offset);
  if (number == 1) set_end_key(pool, offset);
  chunk.lane = cell.row;
  chunk.thread = lane.number;
  chunk.number = number;
  chunk.reserved = 0;
  chunk.start_ticks = cpu::ticks();
  const std::uint64_t lost = lane.lost.load(std::memory_order_relaxed);
  chunk.lost_before = lost;
  chunk.lost_since_ticks = lost == 0 ? 0 : lane.lost_since_ticks.load(std::memory_order_relaxed);
  (void)cpu::kernel_call(SYS_prctl, PR_GET_NAME, chunk.thread_name);
  chunk.state.store(ChunkState::kUsed, std::memory_order_release);
  lane.chunk_number.store(number, std::memory_order_release);
  (void)cpu::add_here(lane.lost, 0 - lost);
}

// 0: there is none. Nothing: others had the lists all the time.
std::optional<std::uint64_t> take(PoolPage& pool, Cell& cell, std::uint32_t number) noexcept {
  const bool is_flight = pool.policy == Policy::kFlight;
  if (is_flight && flight::has_its_share(pool, cell)) return flight::overwrite_oldest(pool, cell);
  std::optional<std::uint64_t> offset;
  {
    const PoolLock lock(pool);
    if (lock.is_taken()) offset = chunks::take(pool, chunks::class_of(number));
    if (lock.is_taken() && is_flight && offset == 0) offset = flight::overwrite_dead(pool, cell);
  }
  return offset.value_or(0) == 0 && is_flight ? flight::overwrite_oldest(pool, cell) : offset;
}

// Either it sees the work before it sleeps, or we see that it is about to.
void call_drain(PoolPage& pool, std::uint32_t chunks) noexcept {
  const std::uint32_t work = pool.work.fetch_add(chunks, std::memory_order_seq_cst) + chunks;
  const std::uint32_t patience = pool.drain_patience.load(std::memory_order_seq_cst);
  if (patience != 0 && work - pool.drain_saw.load(std::memory_order_relaxed) >= patience) wake(pool.work, 1);
}
void call_drain_at_once(PoolPage& pool) noexcept {
  call_drain(pool, kMostPatience);
}

// Until the drain gives something back that was not there at `room`. False: the second is over.
bool wait_for_room(PoolPage& pool, Cell& cell, std::uint32_t room) noexcept {
  if (pool.policy != Policy::kLossless || cell.waited_ns >= kMostWait_ns) return false;
  call_drain_at_once(pool);
  const std::uint64_t start_ns = kernel_monotonic_ns();
  pool.room_waiters.fetch_add(1, std::memory_order_seq_cst);
  sleep_on(pool.room, room, kMostWait_ns - cell.waited_ns);
  pool.room_waiters.fetch_sub(1, std::memory_order_seq_cst);
  const std::uint64_t waited_ns = kernel_monotonic_ns() - start_ns;
  cell.waited_ns += waited_ns != 0 ? waited_ns : 1;
  pool.waited_ns.fetch_add(waited_ns, std::memory_order_relaxed);
  return true;
}

// The thread is done with its chunk, whether or not there is another: else threads that wait would hold all
// that there is.
void leave_chunk(PoolPage& pool, Cell& cell) noexcept {
  cell.cursor.store(0, std::memory_order_relaxed);
  cell.chunk_begin = cell.chunk_end = 0;
  pool.lane(cell.row).left_chunk.store(cell.chunk_number, std::memory_order_release);
  call_drain_at_once(pool);
}

bool take_and_publish(PoolPage& pool, Cell& cell) noexcept {
  const std::uint32_t number = cell.chunk_number + 1;
  std::uint64_t offset = 0;
  for (;;) {
    const std::uint32_t room = pool.room.load(std::memory_order_seq_cst);
    const std::optional<std::uint64_t> taken = take(pool, cell, number);
    offset = taken.value_or(0);
    if (offset != 0) break;
    if (cell.chunk_end != 0) leave_chunk(pool, cell);
    if (!taken) return false;  // there may be some: the next record asks again
    if (wait_for_room(pool, cell, room)) continue;
    cell.failed_at_room = room + 1;
    return false;
  }
  publish(pool, cell, offset, number);
  if (pool.policy == Policy::kFlight) flight::append(pool, cell, offset);
  cell.failed_at_room = 0;
  cell.waited_ns = 0;
  cell.chunk_number = number;
  cell.chunk_begin = reinterpret_cast<std::uint64_t>(pool.base + offset);
  cell.chunk_end = cell.chunk_begin + pool.chunk(offset).size;
  cell.cursor.store(cell.chunk_begin + kBlockHeaderSize, std::memory_order_relaxed);
  call_drain(pool, 1);
  return true;
}

// A handler may have rolled over before the signals were held.
bool has_room_now(const Cell& cell) noexcept {
  const std::uint64_t at = cell.cursor.load(std::memory_order_relaxed);
  return (at & kNoRoomMask) != 0 || (at & ~std::uint64_t{kBlockHeaderSize - 1}) != cell.chunk_end;
}

}  // namespace

bool next_chunk(PoolPage& pool, Cell& cell) noexcept {
  const std::uint32_t failed = cell.failed_at_room;
  if (failed != 0 && failed == pool.room.load(std::memory_order_relaxed) + 1) {
    lose(pool, cell);
    return false;
  }
  const SignalsHeld held;
  if (cell.is_busy.load(std::memory_order_relaxed) != 0) {
    lose(pool, cell);
    return false;
  }
  // Whoever stops run news reads the chunks then, and waits for those that are busy: Pool::await_busy(). One
  // of the two sees the other, since all four are in one order. (ThreadSanitizer knows no fences.)
  cell.is_busy.store(1, std::memory_order_seq_cst);
  const bool is_off = pool.state.load(std::memory_order_seq_cst) == PoolState::kOff;
  const bool has = has_room_now(cell) || (!is_off && take_and_publish(pool, cell));
  if (!has && !is_off) lose(pool, cell);
  cell.is_busy.store(0, std::memory_order_release);
  return has;
}

}  // namespace jitquill::lanes
