// A growing array of plain values that reports a failed allocation instead of throwing.
//
// asmjit is often built and used without exceptions, so the adapter has no std::vector.
//
// Context   one owner at a time.
// Promises  after a failed allocation the rows before it stay; whole() is false until clear().
// Does not  run constructors or destructors: T is trivially copyable.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <type_traits>
#include <utility>

namespace jitquill::asmjit_detail {

template <class T>
class Rows {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Rows() noexcept = default;
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;
  ~Rows() { std::free(rows_); }

  bool put(const T& row) noexcept { return insert(size_, row); }
  bool insert(std::size_t at, const T& row) noexcept {
    const T copy = row;  // it may lie inside this array
    if (size_ == capacity_ && !grow()) return whole_ = false;
    std::memmove(static_cast<void*>(rows_ + at + 1), rows_ + at, (size_ - at) * sizeof(T));
    std::memcpy(static_cast<void*>(rows_ + at), &copy, sizeof(T));
    ++size_;
    return true;
  }
  void cut(std::size_t size) noexcept { size_ = size < size_ ? size : size_; }
  void clear() noexcept {
    size_ = 0;
    whole_ = true;
  }

  bool whole() const noexcept { return whole_; }
  bool empty() const noexcept { return size_ == 0; }
  std::size_t size() const noexcept { return size_; }
  T& operator[](std::size_t i) noexcept { return rows_[i]; }
  const T& operator[](std::size_t i) const noexcept { return rows_[i]; }
  T& back() noexcept { return rows_[size_ - 1]; }
  const T& back() const noexcept { return rows_[size_ - 1]; }
  T* begin() noexcept { return rows_; }
  T* end() noexcept { return rows_ + size_; }
  const T* begin() const noexcept { return rows_; }
  const T* end() const noexcept { return rows_ + size_; }
  const T* data() const noexcept { return rows_; }

 private:
  bool grow() noexcept {
    const std::size_t capacity = capacity_ == 0 ? 16 : capacity_ * 2;
    void* larger = std::realloc(static_cast<void*>(rows_), capacity * sizeof(T));
    if (larger == nullptr) return false;
    rows_ = static_cast<T*>(larger);
    capacity_ = capacity;
    return true;
  }

  T* rows_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
  bool whole_ = true;
};

}  // namespace jitquill::asmjit_detail
