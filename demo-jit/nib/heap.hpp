// The arrays of one run of a program.
//
// Nothing is freed before the run ends: a garbage collector can come later without touching the lowering,
// which knows arrays only by the layout of Array and makes them by a call of the runtime.
//
// Context   one thread.
// Promises  at most `limit` bytes are allocated, heads of arrays included. All of it is freed at the end.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nib {

// What a value of an array type points to. The elements lie behind it: an int has 8 bytes, a bool 1.
struct Array {
  Array* next;  // of the heap
  std::int64_t length;

  void* elements() noexcept { return this + 1; }
};

class Heap {
 public:
  static constexpr std::size_t kDefaultLimit = std::size_t{1} << 30;

  explicit Heap(std::size_t limit) noexcept : limit_(limit) {}
  ~Heap();
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;

  // The longest array that an empty heap could hold.
  std::int64_t max_length(std::size_t element_size) const noexcept;
  // For 0 <= length <= max_length(); the elements are not set. Null: out of memory.
  Array* allocate(std::int64_t length, std::size_t element_size) noexcept;

 private:
  std::size_t limit_;
  std::size_t used_ = 0;
  Array* newest_ = nullptr;
};

}  // namespace nib
