#include "agent/lanes/chunks.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>

namespace jitquill::lanes::chunks {
namespace {

constexpr int kPopulateWrite = 23;  // MADV_POPULATE_WRITE, since Linux 5.14

std::uint64_t take_listed(PoolPage& pool, std::uint32_t chunk_class) noexcept {
  const std::uint64_t offset = pool.free_chunks[chunk_class];
  if (offset == 0) return 0;
  pool.free_chunks[chunk_class] = pool.chunk(offset).next_free;
  --pool.free_count[chunk_class];
  pool.chunk(offset).next_free = 0;
  return offset;
}

std::uint32_t class_of_size(std::uint32_t size) noexcept {
  std::uint32_t found = 0;
  while (kChunkSizes[found] != size) ++found;
  return found;
}

std::uint64_t grow_by_hook(PoolPage& pool, std::uint32_t chunk_class) noexcept {
  if (pool.is_full.load(std::memory_order_relaxed) != 0) return 0;
  const std::uint64_t offset = grow(pool, chunk_class);
  if (offset != 0) ++pool.grown_by_hooks;
  return offset;
}

}  // namespace

// By the address, not by a descriptor: the host may have closed that, and its number may be a file of the
// host's own now.
bool back(const PoolPage& pool, std::uint64_t offset, std::uint64_t size) noexcept {
  if (pool.is_backed) return true;
  return cpu::kernel_call(SYS_madvise, pool.base + offset, size, kPopulateWrite) == 0;
}

void clear(std::uint8_t* chunk, std::uint64_t size) noexcept {
  for (std::uint64_t block = 0; block < size; block += kBlockSize) {
    auto* const records = reinterpret_cast<Record*>(chunk + block + kBlockHeaderSize);
    for (std::size_t i = 0; i < kRecordsPerBlock; ++i) records[i].when.store(0, std::memory_order_relaxed);
    no_events_of(chunk + block).store(0, std::memory_order_relaxed);
  }
}

std::uint64_t grow(PoolPage& pool, std::uint32_t chunk_class) noexcept {
  std::atomic<std::uint64_t>& used = pool.header().used_bytes;
  const std::uint64_t offset = used.load(std::memory_order_relaxed);
  const std::uint64_t size = kChunkSizes[chunk_class];
  if (size > pool.size - offset) return 0;
  if (!back(pool, offset, size)) {
    pool.is_full.store(1, std::memory_order_relaxed);
    return 0;
  }
  ChunkHeader& chunk = pool.chunk(offset);
  chunk.size = static_cast<std::uint32_t>(size);
  chunk.state.store(ChunkState::kFree, std::memory_order_relaxed);
  used.store(offset + size, std::memory_order_release);  // whoever walks the file finds whole headers
  return offset;
}

std::uint64_t take(PoolPage& pool, std::uint32_t wanted_class) noexcept {
  std::uint64_t offset = take_listed(pool, wanted_class);
  if (offset == 0) offset = grow_by_hook(pool, wanted_class);
  for (std::uint32_t larger = wanted_class + 1; offset == 0 && larger < kChunkClasses; ++larger)
    offset = take_listed(pool, larger);
  for (std::uint32_t smaller = wanted_class; offset == 0 && smaller-- > 0;) {
    offset = take_listed(pool, smaller);
    if (offset == 0) offset = grow_by_hook(pool, smaller);
  }
  return offset;
}

void link_free(PoolPage& pool, std::uint64_t offset) noexcept {
  const std::uint32_t chunk_class = class_of_size(pool.chunk(offset).size);
  pool.chunk(offset).next_free = pool.free_chunks[chunk_class];
  pool.free_chunks[chunk_class] = offset;
  ++pool.free_count[chunk_class];
}

}  // namespace jitquill::lanes::chunks
