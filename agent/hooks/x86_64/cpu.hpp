// x86-64: the counter, read-modify-writes that only the own thread sees, and system calls without libc.
//
// Context   [hook]
// Promises  no vector register, no errno. libc's syscall() sets errno, may be wrapped by the host, and may be
//           bound lazily.
#pragma once

#include <cpuid.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

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

template <class T>
long as_word(T value) noexcept {
  if constexpr (std::is_pointer_v<T>)
    return reinterpret_cast<long>(value);
  else if constexpr (std::is_null_pointer_v<T>)
    return 0;
  else
    return static_cast<long>(value);
}

// -errno on failure.
template <class... Arguments>
long kernel_call(long number, Arguments... arguments) noexcept {
  static_assert(sizeof...(Arguments) <= 6);
  const long words[6] = {as_word(arguments)...};
  long value = number;
  register long fourth asm("r10") = words[3];
  register long fifth asm("r8") = words[4];
  register long sixth asm("r9") = words[5];
  asm volatile("syscall"
               : "+a"(value)
               : "D"(words[0]), "S"(words[1]), "d"(words[2]), "r"(fourth), "r"(fifth), "r"(sixth)
               : "rcx", "r11", "memory");
  return value;
}

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
