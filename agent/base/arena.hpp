// Where all memory of the agent comes from: the host's allocator is never called, so it may be broken,
// traced, or held locked by the very thread that tells us of code.
//
// Context   under the leaf lock only; it has no lock of its own.
// Promises  blocks are aligned to 16 bytes. Freed blocks are used again by their size class. Pages come
//           from mmap and are never given back, but those of blocks above 64 KiB.
// Does not  run out silently: null is returned, and can_serve() tells beforehand.
#pragma once

#include <cstddef>
#include <cstdint>

namespace jitquill {

class Arena {
 public:
  constexpr Arena() noexcept = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  void* allocate(std::size_t size) noexcept;  // null: the process is at its limit
  void free(void* block) noexcept;            // null is allowed

  // Makes sure that the next allocate() of at most `size` bytes (up to 4 KiB) succeeds: for containers that
  // cannot report failure.
  bool can_serve(std::size_t size) noexcept;

  // Forgets everything: in a child that was cloned while its parent was in the middle of allocate().
  void abandon() noexcept;

 private:
  struct FreeBlock;
  static constexpr std::size_t kClasses = 24;

  bool add_region() noexcept;
  void* take_free(std::size_t size_class) noexcept;
  void* take_larger(std::size_t size_class) noexcept;

  FreeBlock* free_[kClasses] = {};
  unsigned char* next_ = nullptr;
  unsigned char* end_ = nullptr;
};

Arena& arena() noexcept;

}  // namespace jitquill
