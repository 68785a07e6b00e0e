// Reading a pool's file, of this process or of a dead one, whoever wrote it: nothing in it is believed.
//
// Context   any; plain values over memory that must stay mapped.
// Promises  no read outside of the memory, whatever is in it, also while it changes.
// Does not  judge whether a process is dead: lane_folder.hpp does.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "agent/lanes/layout.hpp"

namespace jitquill::lanes {

class PoolView {
 public:
  // Nothing where that is no pool of this version.
  static std::optional<PoolView> over(std::span<std::uint8_t> memory) noexcept;

  PoolHeader& header() const noexcept { return *reinterpret_cast<PoolHeader*>(memory_.data()); }

  std::uint32_t lane_count() const noexcept;  // rows that were ever used
  // `row` below lane_count().
  Lane& lane(std::uint32_t row) const noexcept;

  struct Chunk {
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
    ChunkHeader* header = nullptr;
    std::size_t records() const noexcept { return size / kBlockSize * kRecordsPerBlock; }
  };
  // The chunk at this offset; nothing where none can be, which is the end of the file.
  std::optional<Chunk> chunk_at(std::uint64_t offset) const noexcept;
  static constexpr std::uint64_t first_chunk() noexcept { return kChunksAt; }

  // Calls `visit` with each chunk, in the order of the file.
  template <class Visit>
  void for_each_chunk(Visit visit) const {
    std::uint64_t offset = first_chunk();
    while (const std::optional<Chunk> chunk = chunk_at(offset)) {
      visit(*chunk);
      offset += chunk->size;
    }
  }

  // The `index`th record of a chunk, block headers left out; index below chunk.records().
  Record& record(const Chunk& chunk, std::size_t index) const noexcept {
    const std::size_t at =
        index / kRecordsPerBlock * kBlockSize + kBlockHeaderSize + index % kRecordsPerBlock * sizeof(Record);
    return *reinterpret_cast<Record*>(memory_.data() + chunk.offset + at);
  }

 private:
  explicit PoolView(std::span<std::uint8_t> memory) noexcept : memory_(memory) {}

  std::span<std::uint8_t> memory_;
};

}  // namespace jitquill::lanes
