// How many frames of each function a thread has open: so that a recursion's time is counted once.
//
// Context   as the sink that uses it.
// Promises  one look is two loads; memory only for functions that the thread ran, 4 KiB for each 1,024
//           neighbours.
#pragma once

#include <cstdint>

#include "writer/bytes/growing_array.hpp"
#include "writer/model/run.hpp"

namespace jitquill {

class OpenCounts {
 public:
  static constexpr unsigned kPageBits = 10;
  static constexpr std::uint32_t kPageSize = 1u << kPageBits;

  OpenCounts() noexcept = default;
  ~OpenCounts() { clear(); }
  OpenCounts(const OpenCounts&) = delete;
  OpenCounts& operator=(const OpenCounts&) = delete;

  // Null: no memory.
  std::uint32_t* of(FunctionNumber function) noexcept {
    const std::size_t page = function >> kPageBits;
    if (page < pages_.size() && pages_[page] != nullptr) [[likely]]
      return pages_[page] + (function & (kPageSize - 1));
    return make(function);
  }
  // 0 also where nothing was ever open.
  std::uint32_t count(FunctionNumber function) const noexcept {
    const std::size_t page = function >> kPageBits;
    const bool is_there = page < pages_.size() && pages_[page] != nullptr;
    return is_there ? pages_[page][function & (kPageSize - 1)] : 0;
  }
  bool has(FunctionNumber function) const noexcept {
    const std::size_t page = function >> kPageBits;
    return page < pages_.size() && pages_[page] != nullptr;
  }
  FunctionNumber limit() const noexcept { return static_cast<FunctionNumber>(pages_.size() << kPageBits); }
  void clear() noexcept {
    for (std::uint32_t* page : pages_.all()) ::operator delete(page);
    pages_.release();
  }

 private:
  std::uint32_t* make(FunctionNumber function) noexcept {
    const std::size_t page = function >> kPageBits;
    if (!pages_.grow_to(page + 1, nullptr)) return nullptr;
    auto* const made =
        static_cast<std::uint32_t*>(::operator new(kPageSize * sizeof(std::uint32_t), std::nothrow));
    if (made == nullptr) return nullptr;
    std::memset(made, 0, kPageSize * sizeof(std::uint32_t));
    pages_[page] = made;
    return made + (function & (kPageSize - 1));
  }

  GrowingArray<std::uint32_t*> pages_;
};

}  // namespace jitquill
