// What the agent is told of a run while it runs: the one place that knows its calls (docs/runtime-events.md).
// Without an agent, or where no output shows it, each costs a few instructions.
//
// Context   any thread of a program; of a thread's own life that thread tells, of its making the one that
//           made it.
#pragma once

#include <jitquill/events.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "nib/heap.hpp"

namespace nib {

// Why a thread waits.
enum class Wait : std::uint8_t { kForValue, kForRoom, kForThread, kForSpark };

// ---- Threads; ids are never used again ----

inline void tell_thread_created(std::uint64_t id, std::string_view name, bool runs_sparks = false) {
  if (!jitquill_wants_events()) return;
  runs_sparks ? jitquill_spark_thread_created(id) : jitquill_thread_created(id);
  jitquill_thread_named(id, std::string(name).c_str());
}
inline void tell_thread_runs(std::uint64_t id) noexcept {
  jitquill_thread_running(id);
}
inline void tell_thread_waits(std::uint64_t id, Wait why) noexcept {
  jitquill_thread_stopped(id,
                          why == Wait::kForRoom    ? JITQUILL_STOP_LOCK
                          : why == Wait::kForSpark ? JITQUILL_STOP_YIELDED
                                                   : JITQUILL_STOP_READ,
                          0);
}
inline void tell_thread_yields(std::uint64_t id) noexcept {
  jitquill_thread_stopped(id, JITQUILL_STOP_YIELDED, 0);
}
// `allocated`: bytes, all in all.
inline void tell_thread_ends(std::uint64_t id, std::uint64_t allocated) noexcept {
  jitquill_heap_allocated(allocated);
  jitquill_thread_finished(id);
}

// ---- Capabilities and sparks; of its own capability a thread tells ----

// Since the process began.
struct SparkCounts {
  std::uint64_t created = 0, overflowed = 0, converted = 0, collected = 0, fizzled = 0;
};

inline void tell_capability_created(std::uint16_t number) noexcept {
  jitquill_capability_created(number);
}
inline void tell_capability_taken(std::uint16_t number) noexcept {
  jitquill_capability_taken(number);
}
inline void tell_capability_left(std::uint16_t number) noexcept {
  jitquill_capability_left(number);
}
inline void tell_spark(jitquill_spark_kind what) noexcept {
  jitquill_spark(what);
}
inline void tell_spark_stolen(std::uint16_t victim) noexcept {
  jitquill_spark_stolen(victim);
}
inline void tell_spark_counts(const SparkCounts& counts, std::uint64_t remaining) noexcept {
  jitquill_spark_counters(counts.created, 0, counts.overflowed, counts.converted, counts.collected,
                          counts.fizzled, remaining);
}

// ---- Collections ----

// The thread collects, or stands still for another one that does.
inline void tell_collection_begins(std::uint64_t id, bool is_leader) noexcept {
  if (is_leader) jitquill_gc_requested(JITQUILL_GC_SEQUENTIAL);
  jitquill_thread_stopped(id, JITQUILL_STOP_HEAP_FULL, 0);
  jitquill_gc_begin(0);
  if (!is_leader) jitquill_gc_phase(JITQUILL_GC_IDLE);
}
inline void tell_all_stand_still() noexcept {
  jitquill_gc_synced();
  jitquill_gc_phase(JITQUILL_GC_MARK);
}
inline void tell_marked() noexcept {
  jitquill_gc_phase(JITQUILL_GC_SWEEP);
}
inline void tell_collected(const Heap& heap) noexcept {
  if (!jitquill_wants_events()) return;
  const std::size_t size = heap.reserved();
  jitquill_gc_statistics(0, 1, 0, 0, size - heap.live(), 0, 0, 0);
  jitquill_heap_size(size);
  jitquill_heap_blocks(heap.lines_in_use());
  jitquill_heap_live(heap.live());
}
inline void tell_collection_ends(std::uint64_t id, std::uint64_t allocated) noexcept {
  jitquill_heap_allocated(allocated);
  jitquill_gc_end();
  jitquill_thread_running(id);
}

// ---- The program ----

inline void tell_run_begins(const Heap& heap) noexcept {
  if (!jitquill_wants_events()) return;
  jitquill_runtime_named("nib");
  jitquill_heap_info(1, heap.limit(), 0, Heap::kChunkSize, Heap::kLineSize);
}
inline void tell_allocated(std::uint32_t site, const std::string& name, std::uint64_t objects,
                           std::uint64_t bytes) noexcept {
  jitquill_allocation_site(site, name.c_str());
  jitquill_allocated(site, objects, bytes);
}
inline void tell_marker(std::string_view text) {
  if (jitquill_wants_events()) jitquill_marker(std::string(text).c_str());
}
inline void tell_message(std::string_view text) {
  if (jitquill_wants_events()) jitquill_message(std::string(text).c_str());
}

}  // namespace nib
