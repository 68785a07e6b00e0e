// A row of plain values that grows at its end.
//
// Context   one thread at a time. Allocates by nothrow operator new.
// Promises  running out of memory is a false, and what was in it stays.
// Does not  shrink by itself: clear() keeps the memory, release() gives it back.
#pragma once

#include <cstddef>
#include <cstring>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace jitquill {

template <class T>
class GrowingArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  GrowingArray() noexcept = default;
  ~GrowingArray() { ::operator delete(values_); }
  GrowingArray(GrowingArray&& other) noexcept { swap(other); }
  GrowingArray& operator=(GrowingArray&& other) noexcept {
    swap(other);
    return *this;
  }

  T* data() noexcept { return values_; }
  const T* data() const noexcept { return values_; }
  std::span<T> all() noexcept { return {values_, size_}; }
  std::span<const T> all() const noexcept { return {values_, size_}; }
  std::size_t size() const noexcept { return size_; }
  std::size_t room() const noexcept { return room_; }
  bool empty() const noexcept { return size_ == 0; }
  T& operator[](std::size_t at) noexcept { return values_[at]; }
  const T& operator[](std::size_t at) const noexcept { return values_[at]; }
  T& back() noexcept { return values_[size_ - 1]; }

  // Inline: hot loops push.
  bool push(const T& value) noexcept {
    if (size_ == room_ && !reserve(size_ + 1)) [[unlikely]]
      return false;
    values_[size_++] = value;
    return true;
  }
  bool insert(std::size_t at, const T& value) noexcept {
    if (size_ == room_ && !reserve(size_ + 1)) return false;
    std::memmove(static_cast<void*>(values_ + at + 1), values_ + at, (size_ - at) * sizeof(T));
    values_[at] = value;
    ++size_;
    return true;
  }
  void erase(std::size_t at) noexcept {
    --size_;
    std::memmove(static_cast<void*>(values_ + at), values_ + at + 1, (size_ - at) * sizeof(T));
  }
  void pop() noexcept { --size_; }
  void cut(std::size_t size) noexcept {
    if (size < size_) size_ = size;
  }
  // Those up to `size`, at most room(), were written through data().
  void set_size(std::size_t size) noexcept { size_ = size; }
  // New values are `value`.
  bool grow_to(std::size_t size, const T& value) noexcept {
    if (size > room_ && !reserve(size)) return false;
    while (size_ < size) values_[size_++] = value;
    return true;
  }
  bool reserve(std::size_t count) noexcept {
    if (count <= room_) return true;
    std::size_t room = room_ < kFirstRoom ? kFirstRoom : room_ * 2;
    if (room < count) room = count;
    if (room > static_cast<std::size_t>(-1) / 2 / sizeof(T)) return false;
    auto* const values = static_cast<T*>(::operator new(room * sizeof(T), std::nothrow));
    if (values == nullptr) return false;
    if (size_ != 0) std::memcpy(static_cast<void*>(values), values_, size_ * sizeof(T));
    ::operator delete(values_);
    values_ = values;
    room_ = room;
    return true;
  }
  void clear() noexcept { size_ = 0; }
  void release() noexcept { GrowingArray().swap(*this); }
  void swap(GrowingArray& other) noexcept {
    std::swap(values_, other.values_);
    std::swap(size_, other.size_);
    std::swap(room_, other.room_);
  }

 private:
  static constexpr std::size_t kFirstRoom = 16;

  T* values_ = nullptr;
  std::size_t size_ = 0;
  std::size_t room_ = 0;
};

}  // namespace jitquill
