// Counts by key, in a file that is a B-tree of pages: the kind opdb of the OProfile ABI.
//
// Where a page goes, and which entries of a full one go into the new one, is as OProfile had it in 2002:
// equal input gives equal files. What is between an insert's first store and its last is ours: pages that
// change are made anew behind those in use, one store puts them into the tree, and then, one after the other,
// what they replaced is overwritten and takes its place again. So whoever is killed leaves a tree that has
// all of an insert or nothing of it.
//
// Context   one thread at a time. Raw system calls only; but open() allocates nothing. Not for signal
//           handlers.
// Promises  after each store of each call the file is a tree that any reader walks: ordered, balanced, and
//           with every count but the one under way. Until close() a page in use may be outside of the tree,
//           what is not in use may hold anything, and the file may be longer than it says. A failed call
//           changes no count. A count that exceeds the file's words stays at their greatest number.
// Does not  take a key that does not fit into the words.
#pragma once

#include <cstdint>

#include "writer/oprofile/pages.hpp"

namespace jitquill::oprofile {

class Database {
 public:
  static constexpr std::uint64_t kDefaultPageEntries = 12;

  struct Shape {
    Words words;
    std::uint64_t page_entries = kDefaultPageEntries;  // even, at least 4
    std::uint64_t pages = 0;                           // at first; 0 = what 4,096 bytes hold, at least 1
  };

  // Takes over an open, empty file, for reading and writing. kBadArgument: no such shape, kTooLarge: the
  // words cannot count the pages; then the file stays the caller's. kNoSpace, kNoMemory, kWriteFailed: it was
  // closed.
  Status make(int descriptor, const Shape& shape) noexcept {
    return pages_.make(descriptor, shape.words, shape.page_entries, shape.pages);
  }
  // Takes over an open file with a database in it, for reading and writing, and goes on there: one that was
  // closed as if it had not been, one whose process was killed too. kBadArgument: it is none, or damaged, and
  // was not touched; the rule says what is wrong. kNoSpace, kNoMemory, kWriteFailed. What fails is closed.
  Opened open(int descriptor) noexcept;
  // kTooLarge: the key does not fit, or so many pages cannot be counted; kBadArgument: the count is 0, or
  // there is no file; kNoSpace, kNoMemory, kWriteFailed: the file cannot grow, or is damaged.
  Status add(std::uint64_t key, std::uint64_t count) noexcept;
  // 0: there is no such key, or no file.
  std::uint64_t count_of(std::uint64_t key) noexcept;
  // The file is exactly what it says, its unused parts are blank. kBadArgument: there is none.
  Status close() noexcept { return pages_.close(); }
  // Without a word: in a child of fork the file is the parent's.
  void abandon() noexcept { pages_.abandon(); }
  // A child of fork has none of it (MappedFile); and in that child, whatever its parent was doing.
  void hide_from_children() noexcept { pages_.hide_from_children(); }
  void forget() noexcept { pages_.forget(); }
  bool take_back(int descriptor) noexcept { return pages_.take_back(descriptor); }  // as MappedFile's

  bool is_open() const noexcept { return pages_.is_open(); }
  std::uint64_t total_pages() const noexcept { return pages_.total(); }
  std::uint64_t pages_in_use() const noexcept { return pages_.in_use(); }

 private:
  // Pages are at least half full: 2^64 keys have fewer levels.
  static constexpr std::size_t kMostLevels = 48;

  // A page on the way from the root, and in it the first entry whose key is not below the one looked for.
  struct Step {
    std::uint64_t page;
    std::uint64_t at;
  };
  struct Found {
    Status status;
    std::uint8_t* value = nullptr;  // null: the key is not there
  };
  struct Change;

  Found find(std::uint64_t key) noexcept;
  std::uint64_t lower_bound(std::uint64_t page, std::uint64_t count, Number key) const noexcept;
  Status insert(const Entry& entry) noexcept;
  Status plant(const Entry& entry) noexcept;
  void append(std::uint64_t page, std::uint64_t count, const Entry& entry) noexcept;
  Status replace_path(const Entry& entry) noexcept;
  void make_anew(Change& change, std::size_t level) noexcept;
  void make_two(Change& change, std::size_t level) noexcept;
  void make_root(Change& change) noexcept;
  void hold(Change& change, std::size_t level, std::uint8_t* link) noexcept;
  void put_back(const Change& change) noexcept;
  void note_holders(std::uint8_t* link, std::span<std::uint8_t*> holders) noexcept;
  void move_page(std::uint64_t from, std::uint64_t to, std::span<std::uint8_t*> holders) noexcept;

  Pages pages_;
  Step path_[kMostLevels];  // to where the last key is, or would be
  std::size_t levels_ = 0;
};

}  // namespace jitquill::oprofile
