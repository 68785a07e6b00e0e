// System calls without libc: the one place that knows how a CPU makes them.
//
// Inline wherever they are made: the kernel's own calls push ours out of the CPU's memory of where to return,
// so each return between a system call and its maker costs 6 ns instead of 1 [Zen 5, measured].
//
// Context   any; in hooks too: no vector register, no errno. libc's syscall() sets errno, may be wrapped by
//           the host, and may be bound lazily. (It serves where the CPU is not known here.)
#pragma once

#include <type_traits>

#if !defined(__x86_64__)
#include <unistd.h>
#include <cerrno>
#endif

namespace jitquill {

template <class T>
[[gnu::always_inline]] inline long as_word(T value) noexcept {
  if constexpr (std::is_pointer_v<T>)
    return reinterpret_cast<long>(value);
  else if constexpr (std::is_null_pointer_v<T>)
    return 0;
  else
    return static_cast<long>(value);
}

// -errno on failure.
template <class... Arguments>
[[gnu::always_inline]] inline long kernel_call(long number, Arguments... arguments) noexcept {
  static_assert(sizeof...(Arguments) <= 6);
#if defined(__x86_64__)
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
#else
  const int before = errno;
  const long value = ::syscall(number, as_word(arguments)...);
  const int error = errno;
  errno = before;
  return value == -1 ? -static_cast<long>(error) : value;
#endif
}

}  // namespace jitquill
