#include "agent/lanes/pool_view.hpp"

#include <algorithm>

namespace jitquill::lanes {
namespace {

bool is_chunk_size(std::uint64_t size) noexcept {
  return std::ranges::find(kChunkSizes, size) != std::end(kChunkSizes);
}

bool ends(std::span<const char> text) noexcept {
  return std::ranges::find(text, '\0') != text.end();
}

}  // namespace

std::optional<PoolView> PoolView::over(std::span<std::uint8_t> memory) noexcept {
  if (memory.size() < kChunksAt || reinterpret_cast<std::uintptr_t>(memory.data()) % alignof(Lane) != 0)
    return std::nullopt;
  const PoolView view(memory);
  const PoolHeader& header = view.header();
  if (header.magic != kPoolMagic || header.version != kPoolVersion) return std::nullopt;
  if (!ends(header.boot_id) || !ends(header.output_folder)) return std::nullopt;
  return view;
}

std::uint32_t PoolView::lane_count() const noexcept {
  return std::min(header().lane_count.load(std::memory_order_acquire), kMostLanes);
}

Lane& PoolView::lane(std::uint32_t row) const noexcept {
  return reinterpret_cast<Lane*>(memory_.data() + kLaneTableAt)[row];
}

// What is behind `used_bytes` has no memory perhaps, and must not be touched.
std::optional<PoolView::Chunk> PoolView::chunk_at(std::uint64_t offset) const noexcept {
  const std::uint64_t used =
      std::min<std::uint64_t>(header().used_bytes.load(std::memory_order_acquire), memory_.size());
  if (offset < kChunksAt || offset % kBlockSize != 0 || offset >= used || used - offset < kBlockSize)
    return std::nullopt;
  auto* const chunk = reinterpret_cast<ChunkHeader*>(memory_.data() + offset);
  const std::uint64_t size = *const_cast<const volatile std::uint32_t*>(&chunk->size);  // once: it may change
  if (!is_chunk_size(size) || size > used - offset) return std::nullopt;
  return Chunk{offset, size, chunk};
}

}  // namespace jitquill::lanes
