// Code that its runtime wants registered with the unwinders of the host, so that C++ exceptions, cancellation
// and stack walks pass through it (docs/unwinders.md).
//
// Sections cover disjoint intervals of addresses and hold up to 4,096 functions each, because libgcc 12 looks
// through its sections one by one, and stops at the first that begins below the pc, found or not.
//
// Context   [notify], inside guest_call(), the leaf lock not held: the host's unwinders take their own locks
//           and the host's allocator. One lock of ours is held meanwhile, and no other is waited for.
// Promises  load() and unload() are in effect when they return. The order of locks is this one, then the leaf
//           lock (only fork holds both).
// Does not  help where the unwinder is linked into an executable that does not export it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "agent/base/owner_lock.hpp"
#include "agent/unwinders/section.hpp"
#include "agent/unwinders/section_index.hpp"
#include "agent/unwinders/told_engines.hpp"

namespace jitquill::unwinders {

class Registry {
 public:
  // False: nothing is registered and nothing needs to be ended.
  bool has_any() const noexcept { return live_.load(std::memory_order_relaxed) != 0; }

  // Ends what overlaps, then registers. False: not registered, and counted.
  bool load(const Unwinding& unwinding, std::uint64_t address, std::uint64_t size) noexcept;
  // New code lies here that is not to be registered itself.
  void end_overlapped(std::uint64_t address, std::uint64_t size) noexcept;
  void unload(std::uint64_t address) noexcept;
  void move(std::uint64_t from, std::uint64_t to) noexcept;

  // For fork, which must find the tables whole.
  static OwnerLock::Entry lock() noexcept;
  static void unlock() noexcept;

 private:
  bool enter() noexcept;  // false: this thread is inside already, counted
  void leave() noexcept;
  template <class Put>
  bool put(std::uint64_t address, std::uint64_t end, std::uint32_t unit_count, Put put_into) noexcept;
  bool make_way(std::size_t index, std::uint64_t address, std::uint64_t end) noexcept;
  std::size_t place_for(std::uint64_t address, std::uint64_t end, std::uint32_t unit_count) noexcept;
  std::size_t open_at(std::size_t index, std::uint64_t address) noexcept;
  bool split(std::size_t index, std::uint32_t position) noexcept;
  bool rebase(Section& section) noexcept;
  void refresh(Section& section) noexcept;
  void end(std::size_t index, std::uint32_t position) noexcept;
  void end_range(std::uint64_t address, std::uint64_t end) noexcept;
  void end_retired_copies(std::uint64_t address) noexcept;
  void close(std::size_t index) noexcept;
  Section* new_section(std::uint64_t start) noexcept;

  std::atomic<std::uint64_t> live_{0};
  bool busy_ = false;  // who takes the lock and finds it set is a child of a process that was in the middle
  ToldEngines engines_;
  SectionIndex sections_;
  SectionList retired_;  // their functions live on in other sections: their memory waits for the last one
  SectionList spare_;
  std::uint8_t moved_[std::size_t{Section::kMaxUnits} * kUnitSize] = {};  // a moving function's entry
};

Registry& registry() noexcept;

}  // namespace jitquill::unwinders
