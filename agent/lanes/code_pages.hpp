// Live functions in the order of their addresses, in pages that a tree finds.
//
// A page holds the starts of its functions side by side, apart from what is known of each. So the neighbours
// of an address are in a line or two of the cache, where a tree of functions has a line each; and as JITs
// mostly go on where they were, the page that was used last is asked first.
//
// Context   under the leaf lock.
// Promises  O(log n) for each operation but for_each(). Code that comes upwards fills each page to its end,
//           76 bytes a function; pages that touch have a quarter of a page together at the least. A Place is
//           valid until the next insert() or erase().
// Does not  know that ranges must not overlap: code_map.hpp does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include "agent/lanes/live_code.hpp"

namespace jitquill {

class CodePages {
  struct Page {
    static constexpr std::size_t kMost = 27;  // a page and its node are a block of 2 KiB

    std::size_t count = 0;
    std::uint64_t starts[kMost];
    LiveCode codes[kMost];

    // How many begin below `address`.
    std::size_t count_below(std::uint64_t address) const noexcept;
  };
  // By an address that none in the page is below, and all in the page before it are. No page is empty. The
  // first one has 0.
  using Pages = std::map<std::uint64_t, Page>;

 public:
  // One function, or the end of them.
  class Place {
   public:
    std::uint64_t start() const noexcept { return page_->second.starts[index_]; }
    LiveCode& code() const noexcept { return page_->second.codes[index_]; }
    std::uint64_t end() const noexcept { return start() + code().size; }

   private:
    friend CodePages;
    Place(Pages::iterator page, std::size_t index) noexcept : page_(page), index_(index) {}
    Pages::iterator page_;
    std::size_t index_;
  };

  CodePages() noexcept = default;
  CodePages(const CodePages&) = delete;
  CodePages& operator=(const CodePages&) = delete;

  // The first that does not begin below `address`.
  Place at_or_above(std::uint64_t address) noexcept;
  bool is_end(const Place& place) const noexcept { return place.page_ == pages_.end(); }
  void step(Place& place) noexcept;
  // False: there is nothing in front of it.
  bool step_back(Place& place) noexcept;

  // Sees to the memory for the next insert(). False: there is none.
  bool can_insert() noexcept;
  // Nothing starts at `address` yet. The caller fills in what is known of it.
  LiveCode& insert(std::uint64_t address) noexcept;
  // What comes behind it.
  Place erase(Place place) noexcept;

  // Calls visit(start, code) for each, upwards. It may change all but the size.
  template <class Visit>
  void for_each(Visit visit) noexcept {
    for (auto& [least, page] : pages_) {
      for (std::size_t i = 0; i < page.count; ++i) visit(page.starts[i], page.codes[i]);
    }
  }

 private:
  Pages::iterator page_of(std::uint64_t address) noexcept;
  Pages::iterator add_page(std::uint64_t least) noexcept;
  Pages::iterator make_room(Pages::iterator page, std::uint64_t address) noexcept;
  Pages::iterator drop_page(Pages::iterator page) noexcept;
  bool merge_with_next(Pages::iterator page) noexcept;
  Place settled(Pages::iterator page, std::size_t index) noexcept;
  void forget_last() noexcept { low_ = high_ = 0; }

  Pages pages_;
  Pages::node_type spare_;
  // The page that was asked for last takes [low_, high_); none if both are equal.
  Pages::iterator last_;
  std::uint64_t low_ = 0;
  std::uint64_t high_ = 0;
  static constexpr std::uint64_t kTop = ~std::uint64_t{0};
};

}  // namespace jitquill
