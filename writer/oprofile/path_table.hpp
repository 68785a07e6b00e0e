// The paths that notes refer to, each by the index of its last component: placed where OProfile's kernel
// module of 2002 placed them, so that equal paths in equal order give equal files.
//
// Context   one thread at a time.
// Promises  an index never changes, and 0 is the root's, which is no path of anything. After a failed call
//           it is as it was.
// Does not  grow: an index follows from the number of entries. Nor know where the entries are (hash_map.hpp,
//           hash_file.hpp).
#pragma once

#include <cstdint>
#include <string_view>

#include "writer/model/status.hpp"

namespace jitquill::oprofile {

// Of a component's bytes; exposed for tests.
std::uint32_t component_hash(std::string_view component) noexcept;

// The first prime from `least` on; of more than 2^31 entries none is looked for.
std::uint32_t prime_from(std::uint32_t least) noexcept;
bool is_table_size(std::uint32_t entries) noexcept;

class PathTable {
 public:
  static constexpr std::uint32_t kRoot = 0;
  static constexpr std::uint32_t kSizeOf2002 = 4093;
  static constexpr std::size_t kPoolOf2002 = 65536;

  struct Index {
    Status status = Status::kOk;
    std::uint32_t index = kRoot;  // valid if is_done(status)
  };
  // Finds it, or adds it. What a component cannot have is put in another way: a slash as U+2215, and what is
  // behind a NUL is left out. kBadArgument: nothing is left of it. kFull: no entry, or no room in the pool.
  Index add(std::uint32_t parent, std::string_view component) noexcept;
  // Absolute or not, empty components left out. The root: there was no other.
  Index add_path(std::string_view path) noexcept;

  std::uint32_t size() const noexcept { return size_; }
  std::uint32_t used() const noexcept { return used_; }  // entries, the root included

 protected:
  PathTable() noexcept = default;
  ~PathTable() = default;

  virtual bool is_free(std::uint32_t slot) const noexcept = 0;
  virtual bool is(std::uint32_t slot, std::uint32_t parent, std::string_view component) const noexcept = 0;
  virtual Status fill(std::uint32_t slot, std::uint32_t parent, std::string_view component) noexcept = 0;

  void set_sizes(std::uint32_t size, std::uint32_t used) noexcept {
    size_ = size;
    used_ = used;
  }

 private:
  Index place(std::uint32_t parent, std::string_view component) noexcept;

  std::uint32_t size_ = 0;
  std::uint32_t used_ = 0;
};

}  // namespace jitquill::oprofile
