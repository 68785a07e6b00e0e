// A hash map in memory that is shared with its file: the kind ophd of the OProfile ABI, which is there at
// every moment.
//
// Context   one thread at a time. Raw system calls only; but open() and a name with a slash allocate nothing.
// Promises  after each store of each call the file is a map that any reader walks, with all paths but the one
//           under way: a name is behind the others before its entry is, and one store makes an entry. Until
//           close() the file may be longer than it says, and an entry that is none (its parent is NIL) may
//           have a name.
// Does not  grow in entries; the pool of names does.
#pragma once

#include <cstdint>
#include <string_view>

#include "writer/oprofile/mapped_file.hpp"
#include "writer/oprofile/opened.hpp"
#include "writer/oprofile/path_table.hpp"
#include "writer/oprofile/words.hpp"

namespace jitquill::oprofile {

class HashFile final : public PathTable {
 public:
  struct Shape {
    Words words;
    std::uint32_t entries = kSizeOf2002;  // a prime
    std::size_t pool_size = kPoolOf2002;  // at first, at least 2
  };

  // Of so many entries in all, the root included; more are kFull.
  static constexpr std::uint32_t most_used(std::uint32_t entries) noexcept { return entries - entries / 16; }

  // As Database::make() and open().
  Status make(int descriptor, const Shape& shape) noexcept;
  Opened open(int descriptor) noexcept;
  Status close() noexcept;
  void abandon() noexcept { file_.close(); }
  // As Database's.
  void hide_from_children() noexcept { file_.hide_from_children(); }
  void forget() noexcept { file_.forget(); }
  bool take_back(int descriptor) noexcept { return file_.take_back(descriptor); }

  bool is_open() const noexcept { return file_.is_open(); }

 private:
  bool is_free(std::uint32_t slot) const noexcept override;
  bool is(std::uint32_t slot, std::uint32_t parent, std::string_view component) const noexcept override;
  Status fill(std::uint32_t slot, std::uint32_t parent, std::string_view component) noexcept override;

  Status make_room(std::size_t pool_size) noexcept;
  std::size_t pool_at() const noexcept;
  std::uint8_t* word(std::size_t i) const noexcept;
  std::uint8_t* name_of(std::uint32_t slot) const noexcept { return word(2 + 2 * std::size_t{slot}); }
  std::uint8_t* parent_of(std::uint32_t slot) const noexcept { return word(3 + 2 * std::size_t{slot}); }
  char* pool() const noexcept { return reinterpret_cast<char*>(file_.data() + pool_at()); }
  void forget_names_of_none() noexcept;

  MappedFile file_;
  Words words_;
  std::size_t pool_size_ = 0;
  std::size_t pool_used_ = 0;
};

}  // namespace jitquill::oprofile
