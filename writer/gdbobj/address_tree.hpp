// Live functions by address: a treap whose nodes are the functions themselves, so nothing is allocated and
// nothing can fail.
//
// Context   one thread at a time. Each call costs O(log live functions), on average over the addresses.
// Does not  own the functions. Their ranges must not overlap.
#pragma once

#include <cstdint>

#include "writer/gdbobj/function.hpp"

namespace jitquill::gdbobj {

class AddressTree {
 public:
  // The function that begins there, or null.
  Function* at(std::uint64_t address) const noexcept;
  // The lowest function that overlaps [begin, end), or null.
  Function* overlapping(std::uint64_t begin, std::uint64_t end) const noexcept;
  // Any function; null = none is left.
  Function* any() const noexcept { return root_; }

  void insert(Function& function) noexcept;
  void remove(Function& function) noexcept;

 private:
  Function* root_ = nullptr;
};

}  // namespace jitquill::gdbobj
