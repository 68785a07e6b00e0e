// How lanes lie in the shared memory of a process: the file `lanes` in its lane folder.
//
//   page 0..            PoolHeader: whose it is, how its clock runs
//   kLaneTableAt..      Lane[kMostLanes]: one per thread that wrote a record
//   kChunksAt..         chunks, each made of 8 KiB blocks, handed out in three sizes
//
// A chunk belongs to one lane and has a number in it, from 1, without gaps. Its first block begins with a
// ChunkHeader, the others with nothing but, at the end of kBlockHeaderSize bytes, a count (no_events_of());
// records lie behind, up to the block's end.
// Pages are fallocated before anybody touches them: a full tmpfs is ENOSPC, not SIGBUS.
//
// A lane is written by its thread only and read by the drain, or by `jitquill recover` when all are dead: it
// is all in here, names apart (code_lane.hpp), so that a killed process loses none of it.
//
// Context   any; plain values. All members that two sides use are atomic.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "agent/lanes/record.hpp"

namespace jitquill::lanes {

inline constexpr std::uint64_t kPoolMagic = 0x314c4f4f504c514aULL;  // "JQLPOOL1"
inline constexpr std::uint32_t kPoolVersion = 1;
inline constexpr std::size_t kBlockSize = 8 * 1024;
inline constexpr std::size_t kBlockHeaderSize = 256;
inline constexpr std::size_t kRecordsPerBlock = (kBlockSize - kBlockHeaderSize) / sizeof(Record);
inline constexpr std::size_t kChunkSizes[] = {8 * 1024, 64 * 1024, 256 * 1024};  // first, second, all later
inline constexpr std::uint32_t kMostLanes = 16 * 1024;                           // at a time

// Where the cursor stands in a block's header, 0 included, there is no room: the slow path.
inline constexpr std::uint64_t kNoRoomMask = kBlockSize - kBlockHeaderSize;
static_assert(kNoRoomMask == 0x1f00);

// What a counter value meant in CLOCK_MONOTONIC. Written by the drain: `ticks` last.
struct Calibration {
  std::atomic<std::uint64_t> ns;
  std::atomic<std::uint64_t> ticks;  // 0 = not yet
};

struct PoolHeader {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t pid;                           // in its own namespace
  std::uint64_t start_time_ticks;              // of the process, as /proc/<pid>/stat has it
  std::uint64_t pid_namespace;                 // inode of /proc/self/ns/pid
  char boot_id[40];                            // /proc/sys/kernel/random/boot_id
  std::atomic<std::uint32_t> lane_count;       // of the table's rows that were ever used
  std::atomic<std::uint32_t> is_ended;         // 1 = all was drained, the folder may go
  std::atomic<std::uint64_t> used_bytes;       // of the file: all behind was never handed out
  std::atomic<std::uint64_t> last_look_ticks;  // of the drain: records are no more than 2^47 ticks from it
  Calibration calibrations[64];                // a ring; the first stays
  std::atomic<std::uint64_t> calibration_count;
  char output_folder[2048];  // absolute, NUL-terminated
  // Records of threads that got no row: not of those that got one later, whose lanes have them as lost.
  std::atomic<std::uint64_t> lost_without_lane;
};

enum class LaneState : std::uint32_t { kFree = 0, kLive = 1, kDead = 2 };  // kDead: its thread is gone

struct Lane {
  std::atomic<LaneState> state;
  std::uint32_t tid;
  std::uint32_t number;                     // of the thread in this process, from 0; a row may be used again
  std::atomic<std::uint32_t> chunk_number;  // of the last that its thread got
  // Records that found no room since its last chunk, and when the first of them came (whole counter). The
  // next chunk takes both along, so that the loss has its place.
  std::atomic<std::uint64_t> lost;
  std::atomic<std::uint64_t> lost_since_ticks;
  // Of the last chunk that its thread left without getting another: it found no room, and may wait for some.
  std::atomic<std::uint64_t> left_chunk;
  // Flight: records that were overwritten, and when the chunk of the first of them was handed out.
  std::atomic<std::uint64_t> overwritten;
  std::atomic<std::uint64_t> overwritten_since_ticks;
  std::uint64_t reserved;
};
static_assert(sizeof(Lane) == 64);

// All records of the lane's `number`th chunk are reserved: its thread never comes to it again.
inline bool is_done_with(const Lane& lane, std::uint32_t number) noexcept {
  return lane.chunk_number.load(std::memory_order_acquire) > number ||
         lane.left_chunk.load(std::memory_order_acquire) >= number;
}

enum class ChunkState : std::uint32_t {
  kFree = 0,
  kUsed = 1,         // of `lane`
  kQuarantined = 2,  // drained, but a record in it may still be written late
};

struct ChunkHeader {
  std::atomic<ChunkState> state;
  std::uint32_t size;    // bytes, one of kChunkSizes
  std::uint32_t lane;    // row in the table
  std::uint32_t thread;  // Lane::number
  std::uint32_t number;  // in its lane
  std::uint32_t reserved;
  std::uint64_t start_ticks;  // whole counter when it was handed out
  std::uint64_t lost_before;  // records that found no room between the chunk before and this one
  std::uint64_t lost_since_ticks;
  // Of its thread's own stack, [low, high), wherever it ran when it got the chunk; 0 = unknown. And of its
  // signal stack.
  std::uint64_t stack_low;
  std::uint64_t stack_high;
  std::uint64_t signal_stack_low;
  std::uint64_t signal_stack_high;
  char thread_name[16];
  std::uint64_t next_free;  // offset in the file: while free; of a used one, private to its process
};

// Of a block, at the end of its header: its records that are no event of their own, which are all but the
// first of a post, and what a pad stands for. Whoever makes such counts them, so that the events of a full
// block need not be counted: flight overwrites chunks at every moment.
inline std::atomic<std::uint64_t>& no_events_of(std::uint8_t* block) noexcept {
  return *reinterpret_cast<std::atomic<std::uint64_t>*>(block + kBlockHeaderSize - sizeof(std::uint64_t));
}
static_assert(sizeof(ChunkHeader) <= kBlockHeaderSize - sizeof(std::uint64_t));

inline constexpr std::size_t kLaneTableAt = 8 * 1024;
static_assert(sizeof(PoolHeader) <= kLaneTableAt);
inline constexpr std::size_t kChunksAt = kLaneTableAt + kMostLanes * sizeof(Lane);
static_assert(kChunksAt % kBlockSize == 0);

// Events of ours among the posts: the numbers that no runtime may use.
inline constexpr std::uint32_t kPostThreadEnd =
    0xFFFF;                                          // no payload: it is about to end; hooks may still come
inline constexpr std::uint32_t kPostStack = 0xFFFE;  // {u64 low, u64 high}: a stack to be told apart
inline constexpr std::uint32_t kPostCallStack = 0xFFFD;  // call_stack.hpp: of the entry that follows

}  // namespace jitquill::lanes
