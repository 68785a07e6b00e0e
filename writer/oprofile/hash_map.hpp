// A hash map in memory, to be put as a whole file: for who has all paths before a reader wants one. One that
// a kill may not take away is hash_file.hpp.
//
// Context   one thread at a time. Allocates by nothrow operator new.
// Promises  as path_table.hpp.
// Does not  grow, as any of them.
#pragma once

#include "writer/bytes/bytes.hpp"
#include "writer/bytes/growing_array.hpp"
#include "writer/oprofile/path_table.hpp"
#include "writer/oprofile/words.hpp"

namespace jitquill::oprofile {

class HashMap final : public PathTable {
 public:
  // kBadArgument if `entries` is no prime, kNoMemory. `pool_size` 0: as many bytes as are used; else all
  // strings together have at most so many, and the rest is zeroes.
  Status make(std::uint32_t entries, std::size_t pool_size = 0) noexcept;

  // The whole file. kTooLarge: a number does not fit into the words, nothing is put.
  Status put(const Words& words, Bytes& out) const noexcept;

 private:
  struct Entry {
    std::uint32_t name;  // where it begins in the pool
    std::uint32_t parent;
  };
  static constexpr std::uint32_t kEmpty = ~std::uint32_t{0};  // as a parent

  bool is_free(std::uint32_t slot) const noexcept override { return entries_[slot].parent == kEmpty; }
  bool is(std::uint32_t slot, std::uint32_t parent, std::string_view component) const noexcept override;
  Status fill(std::uint32_t slot, std::uint32_t parent, std::string_view component) noexcept override;
  bool take_in(std::string_view component) noexcept;

  GrowingArray<Entry> entries_;
  GrowingArray<char> pool_;
  std::size_t pool_size_ = 0;
};

}  // namespace jitquill::oprofile
