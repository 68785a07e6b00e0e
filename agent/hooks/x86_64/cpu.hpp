// x86-64: the counter, read-modify-writes that only the own thread sees, and system calls without libc.
//
// Context   [hook]
// Promises  no vector register, no errno.
#pragma once

#include <cpuid.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "writer/bytes/kernel_call.hpp"

namespace jitquill::cpu {

inline std::uint64_t ticks() noexcept {
  std::uint32_t low, high;
  asm volatile("rdtsc" : "=a"(low), "=d"(high));
  return std::uint64_t{high} << 32 | low;
}

// One instruction, so whole for handlers of this thread, and without the lock that other threads would need.
inline std::uint64_t add_here(std::atomic<std::uint64_t>& word, std::uint64_t value) noexcept {
  asm volatile("xaddq %0, %1" : "+r"(value), "+m"(word) : : "memory", "cc");
  return value;
}
inline bool swap_here_if(std::atomic<std::uint64_t>& word, std::uint64_t expected,
                         std::uint64_t desired) noexcept {
  bool is_swapped;
  asm volatile("cmpxchgq %3, %1" : "=@ccz"(is_swapped), "+m"(word), "+a"(expected) : "r"(desired) : "memory");
  return is_swapped;
}

// Where glibc keeps what it knows of a thread: at the upper end of a stack that it made.
inline std::uint64_t thread_pointer() noexcept {
  std::uint64_t address;
  asm("mov %%fs:0, %0" : "=r"(address));
  return address;
}

using jitquill::kernel_call;

// The counter runs at one rate in all states of the CPU.
inline bool has_steady_ticks() noexcept {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d >> 8 & 1) != 0;
}

// Calls function(a, b) and lets vector and x87 registers have their values again: for the one function of
// libc that a hook needs. `area`: of kVectorAreaSize bytes, aligned to 64, its bytes zero; it is left dirty.
inline constexpr std::size_t kVectorAreaSize = 2688;
using KeptCall = int (*)(std::uint32_t, const void*);
extern "C" [[gnu::visibility("hidden")]] int jitquill_call_keeping_vectors(KeptCall function, std::uint32_t a,
                                                                           const void* b, void* area);
// Whether that works: the system saves registers by XSAVE.
inline bool can_keep_vectors() noexcept {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c >> 27 & 1) != 0;
}

}  // namespace jitquill::cpu
