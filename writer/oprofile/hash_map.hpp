// The paths that notes refer to, each by the index of its last component: placed where OProfile's kernel
// module of 2002 placed them, so that equal paths in equal order give equal files.
//
// Context   one thread at a time. Allocates by nothrow operator new.
// Promises  an index never changes, and 0 is the root's, which is no path of anything. After a failed call
//           it is as it was.
// Does not  grow: an index follows from the number of entries.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "writer/bytes/bytes.hpp"
#include "writer/bytes/growing_array.hpp"
#include "writer/model/status.hpp"
#include "writer/oprofile/words.hpp"

namespace jitquill::oprofile {

// Of a component's bytes; exposed for tests.
std::uint32_t component_hash(std::string_view component) noexcept;

// The first prime from `least` on; of more than 2^31 entries none is looked for.
std::uint32_t prime_from(std::uint32_t least) noexcept;

class HashMap {
 public:
  static constexpr std::uint32_t kRoot = 0;
  static constexpr std::uint32_t kSizeOf2002 = 4093;
  static constexpr std::size_t kPoolOf2002 = 65536;

  // kBadArgument if `entries` is no prime, kNoMemory. `pool_size` 0: as many bytes as are used; else all
  // strings together have at most so many, and the rest is zeroes.
  Status make(std::uint32_t entries, std::size_t pool_size = 0) noexcept;

  struct Index {
    Status status = Status::kOk;
    std::uint32_t index = kRoot;  // valid if is_done(status)
  };
  // Finds it, or adds it. What a component cannot have is put in another way: a slash as U+2215, and what is
  // behind a NUL is left out. kBadArgument: nothing is left of it. kFull: no entry, or no room in the pool.
  Index add(std::uint32_t parent, std::string_view component) noexcept;
  // Absolute or not, empty components left out. The root: there was no other.
  Index add_path(std::string_view path) noexcept;

  std::uint32_t used() const noexcept { return used_; }  // entries, the root included

  // The whole file. kTooLarge: a number does not fit into the words, nothing is put.
  Status put(const Words& words, Bytes& out) const noexcept;

 private:
  struct Entry {
    std::uint32_t name;  // where it begins in the pool
    std::uint32_t parent;
  };
  static constexpr std::uint32_t kEmpty = ~std::uint32_t{0};  // as a parent

  Index place(std::uint32_t parent, std::string_view component) noexcept;
  bool is(const Entry& entry, std::uint32_t parent, std::string_view component) const noexcept;
  bool take_in(std::string_view component) noexcept;

  GrowingArray<Entry> entries_;
  GrowingArray<char> pool_;
  std::size_t pool_size_ = 0;
  std::uint32_t used_ = 0;
};

}  // namespace jitquill::oprofile
