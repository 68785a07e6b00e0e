// Where all memory of the agent comes from: the host's allocator is never called, so it may be broken,
// traced, or held locked by the very thread that tells us of code.
//
// There are two, so that the drain need not wait for who announces code: one under the leaf lock, one under
// the drain's. A block goes back to its own.
//
// Context   under its lock only; it has none of its own.
// Promises  blocks are aligned to 16 bytes. Freed blocks are used again by their size class. Pages come
//           from mmap and are never given back, but those of blocks above 64 KiB; the last two such of up to
//           1 MiB are kept, since a copy of one module's code follows another's.
// Does not  run out silently: null is returned, and can_serve() tells beforehand.
#pragma once

#include <cstddef>
#include <cstdint>

namespace jitquill {

class Arena {
 public:
  enum class Owner : std::uint32_t { kLeafLock, kDrainLock };
  struct Header;  // in front of every block

  constexpr explicit Arena(Owner owner = Owner::kLeafLock) noexcept : owner_(owner) {}
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  void* allocate(std::size_t size) noexcept;  // null: the process is at its limit
  void free(void* block) noexcept;            // null is allowed; a block of this arena

  // Makes sure that the next allocate() of at most `size` bytes (up to 4 KiB) succeeds: for containers that
  // cannot report failure.
  bool can_serve(std::size_t size) noexcept;

  // Forgets everything: in a child that was cloned while its parent was in the middle of allocate().
  void abandon() noexcept;

 private:
  struct FreeBlock;
  static constexpr std::size_t kClasses = 24;
  static constexpr std::size_t kSpares = 2;

  bool add_region() noexcept;
  void* allocate_large(std::size_t size) noexcept;
  void free_large(Header* header) noexcept;
  void* take_free(std::size_t size_class) noexcept;
  void* take_larger(std::size_t size_class) noexcept;

  const Owner owner_;
  FreeBlock* free_[kClasses] = {};
  Header* spares_[kSpares] = {};
  unsigned char* next_ = nullptr;
  unsigned char* end_ = nullptr;
};

Arena& arena() noexcept;        // the leaf lock's
Arena& drain_arena() noexcept;  // the drain lock's
Arena& arena_of(const void* block) noexcept;

}  // namespace jitquill
