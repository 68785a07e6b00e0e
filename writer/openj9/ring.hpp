// A record that a thread's entries go round in: the newest of them are there at every moment, also when the
// process is killed between two stores, if the memory is a file's.
//
// OpenJ9's own engine writes the bytes and then moves on, so that what it overwrites is shown in halves. Here
// an old entry that a new one will touch loses its length first, and the new one counts once it is whole.
//
// Context   one thread at a time. Allocates by nothrow operator new, once.
// Promises  after each store, whoever decodes the memory finds whole entries only, without a gap up to the
//           newest, but for the one that is being put.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "writer/bytes/growing_array.hpp"
#include "writer/model/status.hpp"
#include "writer/openj9/record.hpp"

namespace jitquill::openj9 {

// How a ring's bytes reach its memory, in the order of the calls.
struct PlainStores {
  static void bytes(std::uint8_t* at, std::span<const std::uint8_t> from) noexcept;
  static void u8(std::uint8_t* at, std::uint8_t v) noexcept { __atomic_store_n(at, v, __ATOMIC_RELEASE); }
  // Aligned, as they lie in the file.
  static void u32(std::uint8_t* at, std::uint32_t v) noexcept;
  static void u64(std::uint8_t* at, std::uint64_t v) noexcept;
};

template <Target kTarget, class Stores = PlainStores>
class Ring {
 public:
  // `record`: the header's size, aligned to 8, zeros; the caller's, for as long as this is used. False: no
  // memory.
  bool open(std::span<std::uint8_t> record, const Clock& clock, const ThreadId& thread,
            std::uint64_t ticks) noexcept;

  // One that another process has put into, as it lies there. False: damage, or no memory.
  bool resume(std::span<std::uint8_t> record) noexcept;
  std::uint64_t newest_ticks() const noexcept { return ticks_; }

  // Bytes for an entry: a quarter, so that what is in flight never leaves the ring empty.
  std::size_t most_room() const noexcept { return area_ / 4; }
  // kTooLarge: nothing is put.
  Status put(std::uint64_t ticks, const EntryHead<kTarget>& head,
             std::span<const std::uint8_t> parameters) noexcept;

 private:
  bool take_memory() noexcept;
  void put_bytes(std::span<const std::uint8_t> entry) noexcept;
  void take_out_up_to(std::uint64_t place) noexcept;
  void set_newest_ticks(std::uint64_t ticks) noexcept;
  std::uint8_t* at(std::uint64_t place) const noexcept { return record_ + first_ + place % area_; }

  std::uint8_t* record_ = nullptr;
  std::uint32_t first_ = 0;
  std::uint32_t area_ = 0;  // bytes for entries, from first_ on
  // Places count on, round after round.
  std::uint64_t newest_ = 0;             // of the length of the newest entry
  std::uint64_t before_oldest_ = 0;      // of the length in front of the oldest
  GrowingArray<std::uint64_t> lengths_;  // of those that are there, a circle
  std::size_t oldest_ = 0, count_ = 0;
  GrowingArray<std::uint8_t> entry_;  // the one that is being put
  std::uint64_t ticks_ = 0;
};

}  // namespace jitquill::openj9

#include "writer/openj9/ring_body.hpp"
