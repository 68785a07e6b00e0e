// The pages of a database, in memory shared with its file: where each word lies, and how many pages there
// are.
//
// Context   one thread at a time. Raw system calls only; allocates nothing.
// Promises  a number in the header changes in one store of the CPU's. reserve() alone moves the memory.
// Does not  know what a tree is (database.hpp).
#pragma once

#include <cstdint>
#include <span>

#include "writer/oprofile/mapped_file.hpp"
#include "writer/oprofile/opened.hpp"
#include "writer/oprofile/words.hpp"

namespace jitquill::oprofile {

inline constexpr std::uint64_t kNoPage = ~std::uint64_t{0};
// Of the file, behind the header that all kinds have.
inline constexpr std::size_t kHeaderWords = 8;

// | right: of the page with what is above this entry and below the next | value | key | as it lies in the
// file.
struct Entry {
  static constexpr std::size_t kWords = 3;

  Entry() noexcept = default;
  Entry(const Words& words, Number right, Number value, Number key) noexcept;

  std::uint8_t bytes[kWords * Words::kMostWidth];
};

class Pages {
 public:
  // As Database::make().
  Status make(int descriptor, const Words& words, std::uint64_t page_entries, std::uint64_t pages) noexcept;
  // As Database::open(), but the tree's part of it.
  Opened open(int descriptor) noexcept;
  // All that is not in use becomes blank, and the file ends behind its last page.
  Status close() noexcept;
  void abandon() noexcept { file_.close(); }
  void hide_from_children() noexcept { file_.hide_from_children(); }
  void forget() noexcept { file_.forget(); }
  bool take_back(int descriptor) noexcept { return file_.take_back(descriptor); }

  bool is_open() const noexcept { return file_.is_open(); }
  const Words& words() const noexcept { return words_; }
  std::uint64_t entries() const noexcept { return entries_; }  // of a page
  std::uint64_t total() const noexcept { return total_; }
  std::uint64_t in_use() const noexcept { return in_use_; }

  // `fresh` more pages, in_use() the first of them, to stay, and behind those `scratch` ones until settle():
  // all may be written, and those in use before take_in() may not be linked.
  Status reserve(std::uint64_t fresh, std::uint64_t scratch) noexcept;
  void take_in() noexcept;
  void settle() noexcept;
  // Nothing links to those behind the first `pages`.
  void give_back(std::uint64_t pages) noexcept;

  std::uint8_t* root_link() const noexcept { return header_word(2); }
  std::uint8_t* count_word(std::uint64_t page) const noexcept { return word(page, 0); }
  // The link to what is below entry `i`, or above all.
  std::uint8_t* link(std::uint64_t page, std::uint64_t i) const noexcept {
    return i == 0 ? word(page, 1) : entry(page, i - 1);
  }
  std::uint8_t* entry(std::uint64_t page, std::uint64_t i) const noexcept {
    return word(page, 2 + Entry::kWords * i);
  }
  std::uint8_t* value(std::uint64_t page, std::uint64_t i) const noexcept {
    return entry(page, i) + words_.width();
  }
  Number key(std::uint64_t page, std::uint64_t i) const noexcept {
    return words_.load(entry(page, i) + 2 * words_.width());
  }
  std::uint64_t page_of(const std::uint8_t* link) const noexcept;
  std::uint64_t count_of(std::uint64_t page) const noexcept;
  std::size_t entry_size() const noexcept { return Entry::kWords * words_.width(); }

  void put_entry(std::uint64_t page, std::uint64_t i, const std::uint8_t* from) const noexcept;
  void blank_from(std::uint64_t page, std::uint64_t entry) const noexcept;
  void blank(std::uint64_t page) const noexcept;
  void copy(std::uint64_t from, std::uint64_t to) const noexcept;

 private:
  std::size_t page_size() const noexcept { return (2 + Entry::kWords * entries_) * words_.width(); }
  bool size_of(std::uint64_t pages, std::size_t& size) const noexcept;
  std::size_t pages_at() const noexcept;
  std::uint8_t* header_word(std::size_t i) const noexcept;
  std::uint8_t* word(std::uint64_t page, std::uint64_t i) const noexcept;
  void say(std::size_t header_word, std::uint64_t number) noexcept;
  void put_file_header() noexcept;

  MappedFile file_;
  Words words_;
  std::uint64_t entries_ = 0;
  std::uint64_t total_ = 0;
  std::uint64_t in_use_ = 0;
  std::uint64_t fresh_ = 0;  // of the reservation
  std::uint64_t scratch_ = 0;
  std::uint64_t written_ = 0;  // pages from there on were never written
};

}  // namespace jitquill::oprofile
