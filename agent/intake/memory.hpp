// What the intakes remember, in memory of their own: neither the host's allocator, which a caller may be
// inside of, nor the agent's arena, which the leaf lock guards.
//
// Context   [notify], under the intakes' lock (intake_lock.hpp).
// Promises  running out of memory is a false or a null, never more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>

#include "agent/base/arena.hpp"

namespace jitquill::intake {

Arena& memory() noexcept;

// A block of bytes, given back at the end of its scope.
class Block {
 public:
  Block() noexcept = default;
  explicit Block(std::size_t size) noexcept
      : bytes_(static_cast<std::uint8_t*>(memory().allocate(size))), size_(bytes_ != nullptr ? size : 0) {}
  Block(Block&& other) noexcept
      : bytes_(std::exchange(other.bytes_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  Block& operator=(Block&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~Block() { memory().free(bytes_); }

  explicit operator bool() const noexcept { return bytes_ != nullptr; }
  std::uint8_t* data() noexcept { return bytes_; }
  std::uint8_t* give_away() noexcept { return std::exchange(bytes_, nullptr); }
  void cut(std::size_t size) noexcept { size_ = size; }
  std::span<const std::uint8_t> view() const noexcept { return {bytes_, size_}; }

 private:
  std::uint8_t* bytes_ = nullptr;
  std::size_t size_ = 0;
};

// A row of plain values that grows at its end. Has no destructor, so that it can be a constant-initialized
// object that outlives everything: who is done with it calls release().
template <class T>
class Growing {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  std::span<T> all() noexcept { return {values_, count_}; }
  std::span<const T> all() const noexcept { return {values_, count_}; }
  std::size_t size() const noexcept { return count_; }
  T& operator[](std::size_t at) noexcept { return values_[at]; }

  bool push(const T& value) noexcept { return insert(count_, value); }
  bool insert(std::size_t at, const T& value) noexcept {
    if (count_ == room_ && !grow()) return false;
    std::memmove(static_cast<void*>(values_ + at + 1), values_ + at, (count_ - at) * sizeof(T));
    values_[at] = value;
    ++count_;
    return true;
  }
  void erase(std::size_t at) noexcept {
    --count_;
    std::memmove(static_cast<void*>(values_ + at), values_ + at + 1, (count_ - at) * sizeof(T));
  }
  void erase_first(std::size_t count) noexcept {
    count_ -= count;
    if (count_ != 0) std::memmove(static_cast<void*>(values_), values_ + count, count_ * sizeof(T));
  }
  // Keeps what is_kept(value) says, in its order.
  template <class IsKept>
  void keep_if(IsKept is_kept) noexcept {
    std::size_t kept = 0;
    for (T& value : all()) {
      if (is_kept(value)) values_[kept++] = value;
    }
    count_ = kept;
  }
  T* give_away() noexcept {
    T* const values = values_;
    *this = {};
    return values;
  }
  void release() noexcept {
    memory().free(values_);
    *this = {};
  }

 private:
  bool grow() noexcept {
    const std::size_t room = room_ == 0 ? 16 : room_ * 2;
    auto* values = static_cast<T*>(memory().allocate(room * sizeof(T)));
    if (values == nullptr) return false;
    if (count_ != 0) std::memcpy(static_cast<void*>(values), values_, count_ * sizeof(T));
    memory().free(values_);
    values_ = values;
    room_ = room;
    return true;
  }

  T* values_ = nullptr;
  std::size_t count_ = 0;
  std::size_t room_ = 0;
};

}  // namespace jitquill::intake
