// The lanes of this process: the shared file, and the private page behind it.
//
//   start     makes the file, off        switch_on, switch_off   whether hooks put anything
//   drain     view(), and what gives room back
//
// A child with memory of its own has none of it: its threads' records are lost, and counted, until it has a
// start() or a switch_off() of its own. A vfork child shares its waiting parent's.
//
// Context   start(), set_output_folder(), switch_on(), switch_off(): [life]. The rest: [drain], one thread.
// Promises  one file for the life of a process, mapped until its end: a thread may be inside a hook at any
//           time.
#pragma once

#include <cstdint>
#include <span>

#include "agent/lanes/pool_page.hpp"

namespace jitquill::lanes {

class Pool {
 public:
  struct Settings {
    const char* folder = nullptr;         // where the file `lanes` is made: lane_folder.hpp
    const char* output_folder = nullptr;  // absolute
    std::uint64_t memory_bytes = std::uint64_t{64} << 20;
    Policy policy = Policy::kLossless;
  };

  static constexpr char kFileName[] = "lanes";

  // 0, or -errno: -EALREADY if this process has one; -ENOSPC: not even the header and one chunk fit there;
  // -EOPNOTSUPP: the kernel cannot tell a child from its parent (before Linux 4.14).
  static int start(const Settings& settings) noexcept;
  // Absolute: the outputs that records go to from now on, for whoever recovers them. While it is off.
  static void set_output_folder(const char* output_folder) noexcept;
  static void switch_on() noexcept;
  static void switch_off() noexcept;  // in a child too, which then loses nothing that anybody counts

  // Behind switch_off(): whether no thread takes a chunk any more. In flight they overwrite what the drain
  // will read.
  static bool await_busy(std::uint64_t most_ns) noexcept;

  static bool is_started() noexcept;  // by this very process

  // The whole file's mapping; empty if there is no pool. pool_view.hpp reads it.
  static std::span<std::uint8_t> memory() noexcept;
  static std::uint64_t lost_without_lane() noexcept;

  // All records of the chunk were drained, and none can come late: it is cleared and handed out again.
  static void give_back(std::uint64_t offset) noexcept;
  // A record of it may still come: it is left alone while its thread lives.
  static void quarantine(std::uint64_t offset) noexcept;
  // Whether the row's thread is gone: asks the kernel, and says so in the row.
  static bool is_thread_gone(std::uint32_t row) noexcept;
  // Of a thread that is gone, all of whose chunks were given back.
  static void free_row(std::uint32_t row) noexcept;

  // Has chunks ready, so that hooks need not make them.
  static void keep_spare() noexcept;

  // Sleeps until a chunk was handed out since `seen`, or for `most_ns`. What to pass next time. `is_patient`:
  // until so many were as are a quarter of what there is; or a thread waits. To wake a CPU takes the thread
  // that does it longer than a hundred calls, and it may lose its own to the drain.
  static std::uint32_t wait_for_work(std::uint32_t seen, std::uint64_t most_ns, bool is_patient) noexcept;

  // By all threads for room, so far (Policy::kLossless).
  static std::uint64_t waited_ns() noexcept;

  // All was drained: whoever finds the folder may remove it.
  static void set_ended() noexcept;
};

}  // namespace jitquill::lanes
