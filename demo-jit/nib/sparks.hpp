// What `par` made and nobody runs yet: sparks. Each thread of a program has a capability, and its sparks wait
// there, the newest at the back: its own thread takes that one first, others steal the oldest.
//
// Context   World's lock; the thread that has the capability.
// Promises  tells the agent what becomes of each spark. At most kMost wait with one capability; those beyond
//           are left to whoever joins them. Waiting keeps no task alive: what only waits here the collector
//           drops.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "nib/heap.hpp"
#include "nib/object.hpp"
#include "nib/telling.hpp"

namespace nib {

class Sparks {
 public:
  static constexpr std::size_t kMost = 4096;

  // The lowest number that is free in the process.
  std::uint16_t take_capability();
  // What waits there goes to the one that was taken first.
  void leave_capability(std::uint16_t capability);

  void put(std::uint16_t capability, Task& spark);
  // One that nobody runs, of any capability; null: there is none.
  Task* next(std::uint16_t capability);
  // The spark is run by whoever needs its value.
  void take(std::uint16_t capability, Task& spark);
  bool is_empty() const noexcept;
  // After marking.
  void prune(std::uint16_t capability, const Heap& heap);
  void tell_counts(std::uint16_t capability) const noexcept;

 private:
  struct Capability {
    std::deque<Task*> waiting{};
    SparkCounts* counts = nullptr;  // since the process began
  };

  std::vector<Capability> capabilities_;  // by number
  std::uint16_t first_ = 0;
};

}  // namespace nib
