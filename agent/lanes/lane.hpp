// The lane of the calling thread: where it puts what it does. agent/lanes/pool.hpp has what lies behind it.
//
// Context   [hook]: any thread, any moment, signal handlers too. Most calls are a few instructions; one in
//           hundreds or thousands blocks signals, takes a chunk, and may wait up to a second if the policy is
//           kLossless and the drain is late.
// Promises  a record is whole, or is not there. What is lost is counted, in the lane, whose next chunk says
//           so. Only general registers are changed; errno stays.
// Does not  write into the lanes of a parent: a child's records are lost, and counted, until it starts a pool
//           of its own (pool.hpp). One moment is open: a handler that forks between a hook's reservation and
//           its stores lets the child fill the same 16 bytes once more.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "agent/lanes/layout.hpp"

extern "C" {

// Of the calling thread: points to the word that holds the address of its next record; null before its first.
// hooks/x86_64/sites.S reads it.
[[gnu::visibility("hidden"),
  gnu::tls_model(
      "initial-exec")]] extern thread_local constinit std::atomic<std::uint64_t>* jitquill_lane_cursor;

// Where the cursor has no room. `when` 0: the clock is read when there is some.
[[gnu::visibility("hidden")]] void jitquill_lane_put_slowly(std::uint64_t what, std::uint64_t when,
                                                            std::uint64_t slot) noexcept;
}

namespace jitquill::lanes {

// The longest payload of a post: one block holds all of it.
inline constexpr std::size_t kMostPayload = (kRecordsPerBlock - 1) * kMoreBytes;

// Whether records are taken at all. Sites are switched by patching; what calls put() and post() asks here
// first, or has them ask.
bool is_on() noexcept;

// `slot`: slot_of() of the slot's address, or the low kSlotBits of a frame key. Entries are stamped as late
// as possible, ends as early as possible.
void put(RecordKind kind, std::uint64_t what, std::uint32_t slot) noexcept;

// Two pieces, one behind the other.
struct Payload {
  const std::uint8_t* head;
  std::size_t head_size;
  const std::uint8_t* tail = nullptr;
  std::size_t tail_size = 0;
};

// False: it is longer than kMostPayload, or there was no room (counted).
bool post(std::uint32_t event, const Payload& payload) noexcept;
inline bool post(std::uint32_t event, const std::uint8_t* payload, std::size_t size) noexcept {
  return post(event, Payload{payload, size});
}

// Tells that [low, high) is a stack of its own, of a fiber for instance.
void put_stack(std::uint64_t low, std::uint64_t high) noexcept;

// The calling thread is about to end; hooks after it go on working. The destructor of the pool's pthread key.
void put_thread_end() noexcept;

}  // namespace jitquill::lanes
