// Memory for libgcc's own note of each registered section (its struct object).
//
// libgcc 12 reads that note once more after it has let go of its lock, so one that is registered anew at once
// can be read half made by a thread that is throwing, which then aborts [T]; and one that is freed, as
// __deregister_frame() does, can be anything by then. So a note is used again only when 65,536 others have
// been given back after it: at least a tenth of a second later, for 5 MiB.
//
// Context   under the lock of registry.hpp.
// Promises  what was given back keeps its bytes until it is taken again.
#pragma once

#include <cstddef>
#include <cstdint>

namespace jitquill::unwinders {

class ObjectPool {
 public:
  void* take() noexcept;  // null: no memory
  void give_back(void* object) noexcept;

 private:
  // libgcc's is 48 bytes, 56 in some builds: part of its ABI, since crtbegin.o has one.
  static constexpr std::size_t kObjectSize = 64;
  static constexpr std::size_t kRested = 65'536;

  struct Node {
    alignas(16) std::uint8_t object[kObjectSize];
    Node* next;
  };

  Node* oldest_ = nullptr;
  Node* newest_ = nullptr;
  std::size_t count_ = 0;
  Node* fresh_ = nullptr;
  Node* fresh_end_ = nullptr;
};

}  // namespace jitquill::unwinders
