#include "writer/gdbobj/address_tree.hpp"

#include "writer/bytes/hash.hpp"

namespace jitquill::gdbobj {
namespace {

// A function stands above those of lower priority. Mixed from the address: as good as random for any that a
// runtime hands out, and nothing to keep.
std::uint64_t priority(const Function& function) noexcept {
  std::uint64_t mixed = function.address() * kGoldenRatio;
  mixed ^= mixed >> 32;
  return mixed * 0xD6E8FEB86659FD93;
}

// Splits `tree` into what lies below `address` and what does not.
void split(Function* tree, std::uint64_t address, Function** below, Function** above) noexcept {
  while (tree != nullptr) {
    if (tree->address() < address) {
      *below = tree;
      below = &tree->right;
      tree = tree->right;
    } else {
      *above = tree;
      above = &tree->left;
      tree = tree->left;
    }
  }
  *below = *above = nullptr;
}

// All of `below` lies below all of `above`.
void join(Function* below, Function* above, Function** to) noexcept {
  while (below != nullptr && above != nullptr) {
    if (priority(*below) > priority(*above)) {
      *to = below;
      to = &below->right;
      below = below->right;
    } else {
      *to = above;
      to = &above->left;
      above = above->left;
    }
  }
  *to = below != nullptr ? below : above;
}

}  // namespace

Function* AddressTree::at(std::uint64_t address) const noexcept {
  Function* each = root_;
  while (each != nullptr && each->address() != address)
    each = address < each->address() ? each->left : each->right;
  return each;
}

// Ends ascend as beginnings do: the lowest function that ends behind `begin` is the only candidate.
Function* AddressTree::overlapping(std::uint64_t begin, std::uint64_t end) const noexcept {
  Function* lowest = nullptr;
  for (Function* each = root_; each != nullptr;) {
    const bool ends_behind = each->end() > begin;
    if (ends_behind) lowest = each;
    each = ends_behind ? each->left : each->right;
  }
  return lowest != nullptr && lowest->address() < end ? lowest : nullptr;
}

void AddressTree::insert(Function& function) noexcept {
  Function** to = &root_;
  while (*to != nullptr && priority(**to) >= priority(function))
    to = function.address() < (*to)->address() ? &(*to)->left : &(*to)->right;
  split(*to, function.address(), &function.left, &function.right);
  *to = &function;
}

void AddressTree::remove(Function& function) noexcept {
  Function** to = &root_;
  while (*to != &function) to = function.address() < (*to)->address() ? &(*to)->left : &(*to)->right;
  join(function.left, function.right, to);
  function.left = function.right = nullptr;
}

}  // namespace jitquill::gdbobj
