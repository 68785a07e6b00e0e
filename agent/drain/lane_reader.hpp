// From the memory of a lane's chunks to its records in the order of time.
//
// Context   [drain]; `jitquill recover`. Any one thread.
// Promises  reads no record before it is whole (its `when` is there), nor past one that is not: whoever calls
//           decides when to skip() it. Memory that somebody damaged never crashes it: what makes no sense is
//           passed over and counted.
// Does not  know which chunk is next (chunks.hpp), nor what records mean (pairing.hpp).
#pragma once

#include <cstdint>
#include <span>

#include "agent/lanes/layout.hpp"
#include "writer/bytes/growing_array.hpp"

namespace jitquill::drain {

// No kind of a record: what is missing.
inline constexpr lanes::RecordKind kLost{15};

struct Taken {
  std::uint64_t ticks;  // the whole counter
  std::uint64_t what;   // of a post: where its payload begins; of kLost: since when, whole counter
  std::uint32_t slot;   // of a post: its payload's size; of kLost: how many
  std::uint16_t event;  // of a post
  lanes::RecordKind kind;
};

// A chunk's memory, from its header on.
struct ChunkView {
  std::uint8_t* bytes;
  std::uint32_t size;  // a multiple of kBlockSize
};

class LaneReader {
 public:
  enum class Stop {
    kEnd,      // the chunk is read to its end
    kNothing,  // nothing more was written yet
    kHole,     // a record that is not whole, and one behind it that is
    kFull,     // as many were taken as may be
  };

  // Forgets what was taken; room for `most` records more, and a few that belong in front of those. False: no
  // memory. `since`: of this lane all up to then was taken before. What is earlier and comes only now gets
  // the time of the record in front of it: a handler that interrupted a hook behind its stamp may have
  // entered then, and leaves in front of it now.
  bool begin(std::size_t most, std::uint64_t since = 0) noexcept;

  // Takes the records from the byte `at` of the chunk on, and moves `at`. `near`: the counter at a time less
  // than 2^47 ticks from all of them. `look_ahead`: records that are looked at to tell a hole from the end.
  Stop take(const ChunkView& chunk, std::uint32_t& at, std::uint64_t near, std::size_t look_ahead) noexcept;
  // Passes over all that is not whole, up to the next record or the chunk's end: lost. `since`: when the
  // record before it was, if that was taken earlier.
  void skip(const ChunkView& chunk, std::uint32_t& at, std::uint64_t near, std::uint64_t since) noexcept;
  // The last that was taken is a call stack, which lies in this chunk, at the byte `at`. Its entry is not
  // there yet, and they are told together: it may be given back, to be taken again from `at` on.
  bool ends_with_call_stack_of(const ChunkView& chunk, std::uint32_t& at) const noexcept;
  void leave_call_stack() noexcept;
  // Something is written in it.
  static bool has_begun(const ChunkView& chunk) noexcept;
  // Forgets all records that are whole. The byte behind the last of them.
  static std::uint32_t clear(const ChunkView& chunk) noexcept;
  // Records that never found room.
  void add_lost(std::uint64_t count, std::uint64_t since_ticks, std::uint64_t ticks) noexcept;

  // In order of time; what came at one time as it was written. Valid until begin().
  std::span<const Taken> sorted() noexcept;
  std::span<const std::uint8_t> payload(const Taken& post) const noexcept;

  // Since the reader was made.
  std::uint64_t lost() const noexcept { return lost_; }
  std::uint64_t broken() const noexcept { return broken_; }  // of no known kind, or a post without its rest

 private:
  void put(const Taken& taken) noexcept;
  bool take_frames(const ChunkView& chunk, std::uint32_t& at, std::uint64_t near) noexcept;
  void put_late(Taken taken) noexcept;
  bool ends_with_call_stack() const noexcept;
  bool belongs_to_these(std::uint64_t ticks) const noexcept;
  void take_other(const ChunkView& chunk, std::uint32_t& at, std::uint64_t ticks,
                  std::uint64_t what) noexcept;
  void take_post(const ChunkView& chunk, std::uint32_t& at, std::uint64_t ticks, std::uint64_t what) noexcept;

  GrowingArray<Taken> taken_;
  GrowingArray<std::uint8_t> payloads_;
  std::size_t most_ = 0;
  std::uint64_t since_ = 0;
  std::uint64_t latest_ = 0;  // of what was taken
  bool is_sorted_ = true;
  const std::uint8_t* stack_chunk_ = nullptr;  // of the last call stack, and where in it
  std::uint32_t stack_at_ = 0;
  std::uint64_t lost_ = 0;
  std::uint64_t broken_ = 0;
};

}  // namespace jitquill::drain
