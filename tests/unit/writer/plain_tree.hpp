// The insert of the specification of the OProfile ABI, step for step, on pages that are vectors; and the file
// that it leaves, in words of 8 bytes, little-endian. Written apart from the writer.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

namespace jitquill::tests {

class PlainTree {
 public:
  PlainTree(std::uint64_t page_entries, std::uint64_t pages) : most_(page_entries), pages_(pages) {}

  void add(std::uint64_t key, std::uint64_t value) {
    Entry carried{kNil, value, key};
    if (root_ == kNil) {
      root_ = take_page();
      pages_[root_].entries.push_back(carried);
    } else if (insert(root_, carried)) {
      const std::uint64_t left = root_;
      root_ = take_page();
      pages_[root_].left = left;
      pages_[root_].entries.push_back(carried);
    }
  }

  std::vector<std::uint8_t> bytes() const {
    std::vector<std::uint8_t> all = {'o', 'p', 'd', 'b', 1, 0, 8, 0, 0, 1, 2, 3, 4, 5, 6, 7};
    const auto put = [&](std::uint64_t word) {
      for (int i = 0; i < 8; ++i) all.push_back(static_cast<std::uint8_t>(word >> 8 * i));
    };
    for (const std::uint64_t word : {std::uint64_t{pages_.size()}, current_, root_, most_}) put(word);
    for (int i = 0; i < 4; ++i) put(0);
    for (const Page& page : pages_) {
      put(page.entries.size());
      put(page.left);
      for (std::size_t i = 0; i < most_; ++i) {
        const Entry entry = i < page.entries.size() ? page.entries[i] : Entry{kNil, 0, 0};
        for (const std::uint64_t word : {entry.right, entry.value, entry.key}) put(word);
      }
    }
    return all;
  }

 private:
  static constexpr std::uint64_t kNil = ~std::uint64_t{0};
  struct Entry {
    std::uint64_t right, value, key;
  };
  struct Page {
    std::uint64_t left = kNil;
    std::vector<Entry> entries = {};
  };

  std::uint64_t take_page() {
    if (current_ == pages_.size()) pages_.resize(2 * pages_.size());
    return current_++;
  }

  // True: the page was split, and `carried` is what goes one level up.
  bool insert(std::uint64_t page, Entry& carried) {
    std::size_t at = 0;
    while (at < pages_[page].entries.size() && pages_[page].entries[at].key < carried.key) ++at;
    if (at < pages_[page].entries.size() && pages_[page].entries[at].key == carried.key) {
      pages_[page].entries[at].value += carried.value;
      return false;
    }
    const std::uint64_t below = at == 0 ? pages_[page].left : pages_[page].entries[at - 1].right;
    if (below != kNil && !insert(below, carried)) return false;
    std::vector<Entry>& entries = pages_[page].entries;
    entries.insert(entries.begin() + static_cast<std::ptrdiff_t>(at), carried);
    if (entries.size() <= most_) return false;
    split(page, carried);
    return true;
  }

  void split(std::uint64_t page, Entry& carried) {
    const std::uint64_t added = take_page();
    std::vector<Entry>& entries = pages_[page].entries;
    const auto pivot = entries.begin() + static_cast<std::ptrdiff_t>(most_ / 2);
    carried = *pivot;
    pages_[added].left = carried.right;
    pages_[added].entries.assign(pivot + 1, entries.end());
    entries.erase(pivot, entries.end());
    carried.right = added;
  }

  std::uint64_t most_;
  std::vector<Page> pages_;
  std::uint64_t current_ = 0;
  std::uint64_t root_ = kNil;
};

}  // namespace jitquill::tests
