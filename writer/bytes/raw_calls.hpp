// System calls that neither the host's wrappers nor its cancellation can get between.
//
// A preloaded wrapper of write() or open(), a sanitizer's, or a cancellation point inside our lock would run
// host code there. These go straight to the kernel.
//
// Context   any, also inside the leaf lock and in signal handlers.
// Promises  return the value, or -errno, and leave errno alone.
#pragma once

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "writer/bytes/kernel_call.hpp"

namespace jitquill::raw {

template <class... Arguments>
[[gnu::always_inline]] inline long call(long number, Arguments... arguments) noexcept {
  return kernel_call(number, arguments...);
}

inline int open_at(int directory, const char* path, int flags, unsigned mode) noexcept {
  return static_cast<int>(call(SYS_openat, directory, path, flags, mode));
}
inline void close(int descriptor) noexcept {
  (void)call(SYS_close, descriptor);
}
inline long write(int descriptor, const void* data, std::size_t size) noexcept {
  return call(SYS_write, descriptor, data, size);
}
inline long truncate(int descriptor, std::uint64_t size) noexcept {
  return call(SYS_ftruncate, descriptor, static_cast<long>(size));
}
inline long seek_to(int descriptor, std::uint64_t at) noexcept {
  return call(SYS_lseek, descriptor, static_cast<long>(at), SEEK_SET);
}
// Where the next write() goes, or -errno.
inline long place_in(int descriptor) noexcept {
  return call(SYS_lseek, descriptor, 0L, SEEK_CUR);
}
inline long status_of(int descriptor, struct stat& status) noexcept {
  return call(SYS_fstat, descriptor, &status);
}
// The address, or -errno: compare with is_error() before use.
inline long map(std::size_t size, int protection, int flags, int descriptor) noexcept {
  return call(SYS_mmap, nullptr, size, static_cast<long>(protection), static_cast<long>(flags),
              static_cast<long>(descriptor), 0L);
}
inline long unmap(void* address, std::size_t size) noexcept {
  return call(SYS_munmap, address, size);
}
inline bool is_error(long value) noexcept {
  return value < 0 && value > -4096;
}

}  // namespace jitquill::raw
