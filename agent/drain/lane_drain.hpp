// One thread's lane: how far it is drained, which of its chunks come next, and its open frames.
//
// Context   [drain]; `jitquill recover`. Any one thread.
// Promises  records are taken in the order in which they were reserved; at one that is not whole it stays
//           for at most kMostWait_ns while its thread lives. Chunks are given away by free_chunks(), when
//           what was taken of them is committed.
// Does not  commit anything (drain.hpp).
#pragma once

#include <cstdint>
#include <string_view>

#include "agent/drain/lane_reader.hpp"
#include "agent/drain/lane_source.hpp"
#include "agent/drain/pairing.hpp"
#include "agent/lanes/layout.hpp"

namespace jitquill::drain {

// What is asked of a lane at one time.
struct Look {
  std::uint64_t ticks;   // a counter near all records
  std::uint64_t now_ns;  // since when it waits
  bool is_last;          // nothing that is missing will come: no waiting
};

class LaneDrain {
 public:
  static constexpr std::uint64_t kMostWait_ns = 100'000'000;
  static constexpr std::size_t kAtOnce = 4 * 1024;
  static constexpr std::size_t kMostTaken = 64 * 1024;  // for one commit

  LaneDrain(std::uint32_t row, std::uint32_t thread) noexcept : row_(row), thread_(thread) {}

  std::uint32_t row() const noexcept { return row_; }
  std::uint32_t thread() const noexcept { return thread_; }
  bool is_ended() const noexcept { return is_ended_; }
  RunThread run_thread() const noexcept { return {thread_, tid_, std::string_view(name_)}; }
  Pairing& pairing() noexcept { return pairing_; }

  // Whether `chunk` (at `offset`) is one that comes; it is remembered.
  bool offer(std::uint64_t offset, const lanes::ChunkHeader& chunk) noexcept;
  // Whether its thread has got a chunk since all were looked at, or one was not among them.
  bool misses_chunk(const lanes::Lane& lane) const noexcept {
    return gap_before_ != 0 || lane.chunk_number.load(std::memory_order_acquire) > sought_;
  }
  // What an earlier output of the process took stays taken, and what is whole now is not told: `chunks` were
  // offered.
  void pass_over(LaneSource& source, const lanes::Lane& lane, bool is_gone, std::uint64_t ticks) noexcept;
  // All will be offered now.
  void seek_chunks(const lanes::Lane& lane) noexcept {
    sought_ = lane.chunk_number.load(std::memory_order_acquire);
  }

  // Into `reader`, as much as it was begun for. True: there may be more.
  bool take(LaneSource& source, const Look& look, LaneReader& reader, const Surroundings& around) noexcept;
  // Its frames, as its thread ended, or its process. Records that found no room are told first.
  void end(FrameEnd how, std::uint64_t when_ns, const lanes::Lane& lane, const Surroundings& around) noexcept;
  bool has_changed() const noexcept { return has_changed_; }
  // Nothing came for so many looks.
  std::uint32_t idle_looks() const noexcept { return idle_looks_; }
  // Of what was taken, whole counter; 0 = nothing was.
  std::uint64_t last_ticks() const noexcept { return last_ticks_; }

  // After the commit.
  void free_chunks(LaneSource& source) noexcept;

  // | row | thread | chunk | at | flags | tid | last ticks | told lost | told overwritten | name | pairing |
  void put(bool whole, Bytes& state) noexcept;
  bool apply(ByteSource& state) noexcept;  // behind row and thread

 private:
  static constexpr std::uint32_t kAtEnd = ~std::uint32_t{0};
  struct Chunk {
    std::uint64_t offset;
    std::uint32_t number;
    std::uint32_t size;
    bool has_hole;
  };

  bool open_next(LaneSource& source, bool is_last, LaneReader& reader, const Surroundings& around) noexcept;
  void begin_in(const lanes::ChunkHeader& header, std::uint64_t ticks, const Surroundings& around) noexcept;
  void add_losses(LaneSource& source, const lanes::ChunkHeader& header, bool is_first,
                  LaneReader& reader) noexcept;
  bool is_gap_before(std::uint32_t number, bool is_last) noexcept;
  bool may_skip(const Look& look) noexcept;
  bool leaves_call_stack(LaneSource& source, const ChunkView& chunk, std::uint32_t looked_at,
                         LaneReader::Stop stop, const Look& look, LaneReader& reader) noexcept;
  std::size_t look_ahead() const noexcept;

  const std::uint32_t row_;
  const std::uint32_t thread_;
  std::uint32_t tid_ = 0;
  char name_[16] = {};
  std::uint32_t chunk_ = 0;       // number of the one that is read; 0 = none yet
  std::uint32_t at_ = 0;          // byte in it, or kAtEnd
  std::uint32_t sought_ = 0;      // number of the last chunk that there was when all were looked at
  std::uint32_t gap_before_ = 0;  // the chunk whose predecessor was not found; 0 = none
  bool has_begun_ = false;
  bool is_ended_ = false;
  bool has_changed_ = false;
  bool is_open_ = false;  // chunks_[0] is the one that is read
  std::uint32_t idle_looks_ = 0;
  std::uint64_t hole_since_ns_ = 0;
  std::uint64_t last_ticks_ = 0;  // of what was taken
  std::uint64_t told_lost_ = 0;   // of Lane::lost, by an earlier output
  std::uint64_t told_overwritten_ = 0;
  GrowingArray<Chunk> chunks_;  // by number
  GrowingArray<Chunk> done_;    // drained, not committed
  GrowingArray<Chunk> quarantined_;
  Pairing pairing_;
};

}  // namespace jitquill::drain
