// The lane of the calling thread: where it puts what it does.
//
// Context   [hook]
#pragma once

#include <atomic>
#include <cstdint>

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
