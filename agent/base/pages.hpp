// A row of plain values in pages of its own, which grows at its end.
//
// Context   [notify]; raw system calls only, and those when it grows. No lock: its user is one thread.
// Promises  constant-initialized, and without a destructor, so that it can outlive everything.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <span>
#include <type_traits>

#include "writer/bytes/raw_calls.hpp"

namespace jitquill {

template <class T>
class Pages {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  std::span<const T> all() const noexcept { return {values_, count_}; }
  void clear() noexcept { count_ = 0; }  // keeps the pages
  void release() noexcept {
    if (room_ != 0) raw::unmap(values_, room_bytes_);
    *this = {};
  }

  // False: no memory, or `most` values are in it already.
  bool push(const T& value, std::size_t most) noexcept {
    if (count_ >= most || (count_ == room_ && !grow())) return false;
    values_[count_++] = value;
    return true;
  }

 private:
  static constexpr std::size_t kFirstSize = std::size_t{64} << 10;

  bool grow() noexcept {
    const std::size_t size = room_ == 0 ? kFirstSize : room_bytes_ * 2;
    const long mapped =
        room_ == 0 ? raw::map(size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1)
                   : raw::call(SYS_mremap, values_, room_bytes_, size, static_cast<long>(MREMAP_MAYMOVE));
    if (raw::is_error(mapped)) return false;
    values_ = reinterpret_cast<T*>(mapped);
    room_bytes_ = size;
    room_ = size / sizeof(T);
    return true;
  }

  T* values_ = nullptr;
  std::size_t count_ = 0;
  std::size_t room_ = 0;
  std::size_t room_bytes_ = 0;
};

}  // namespace jitquill
