#include <algorithm>

#include "writer/bytes/growing_array.hpp"
#include "writer/oprofile/file_walk.hpp"
#include "writer/oprofile/pages.hpp"

namespace jitquill::oprofile {
namespace {

class TreeWalk {
 public:
  TreeWalk(const FileView& view, FileVisitor& visitor) noexcept : view_(view), visitor_(visitor) {}

  void walk() noexcept {
    if (!read_sizes()) return visitor_.found(view_.data_at(), FileRule::kTreeSize);
    visitor_.tree(sizes_);
    if (!reached_.grow_to(sizes_.in_use, 0)) return;
    if (sizes_.root != kNoPage) descend(sizes_.root, 1);
    for (std::uint64_t page = 0; page < sizes_.in_use; ++page) {
      if (reached_[page] == 0) visitor_.found(page_at(page), FileRule::kLost);
    }
    const std::uint64_t end = page_at(sizes_.pages);
    if (end != view_.size()) visitor_.found(end, FileRule::kTail);
  }

 private:
  static constexpr std::uint64_t kMostLevels = 64;  // pages are half full: 2^64 keys have less

  bool read_sizes() noexcept {
    const std::uint64_t w = view_.width(), at = view_.data_at();
    if (view_.size() - at < kHeaderWords * w) return false;
    const std::uint64_t root = view_.is_nil(at + 2 * w) ? kNoPage : view_.number(at + 2 * w);
    sizes_ = {view_.number(at), view_.number(at + w), root, view_.number(at + 3 * w)};
    if (sizes_.page_entries < 4 || sizes_.page_entries % 2 != 0 || sizes_.page_entries > view_.size())
      return false;
    return sizes_.in_use <= sizes_.pages && sizes_.pages <= (view_.size() - page_at(0)) / page_size();
  }

  void descend(std::uint64_t page, std::uint64_t level) noexcept {
    if (page >= sizes_.in_use || reached_[page] != 0 || level > kMostLevels)
      return visitor_.found(link_at_ == 0 ? view_.data_at() : link_at_, FileRule::kLink);
    reached_[page] = 1;
    const std::uint64_t count = view_.number(page_at(page));
    const std::uint64_t least = level == 1 ? 1 : sizes_.page_entries / 2;
    if (count < least || count > sizes_.page_entries)
      return visitor_.found(page_at(page), FileRule::kPageCount);
    const bool is_leaf = view_.is_nil(link(page, 0));
    if (is_leaf && leaf_level_ == 0) leaf_level_ = level;
    if (is_leaf && leaf_level_ != level) visitor_.found(page_at(page), FileRule::kDepth);
    for (std::uint64_t i = 0; i <= count; ++i) {
      if (i != 0) see(link(page, i));
      if (view_.is_nil(link(page, i)) != is_leaf) visitor_.found(link(page, i), FileRule::kDepth);
      if (view_.is_nil(link(page, i))) continue;
      link_at_ = link(page, i);
      descend(view_.number(link_at_), level + 1);
    }
  }

  // | right | count | key |
  void see(std::uint64_t entry) noexcept {
    const std::uint64_t count = view_.number(entry + view_.width()),
                        key = view_.number(entry + 2 * view_.width());
    if (has_any_ && key <= last_key_) visitor_.found(entry, FileRule::kOrder);
    has_any_ = true;
    last_key_ = key;
    visitor_.count(entry, key, count);
  }

  std::uint64_t page_size() const noexcept {
    return (2 + Entry::kWords * sizes_.page_entries) * view_.width();
  }
  std::uint64_t page_at(std::uint64_t page) const noexcept {
    return view_.data_at() + kHeaderWords * view_.width() + page * page_size();
  }
  // To what is below entry `i`; those behind the first lie where the entry in front begins.
  std::uint64_t link(std::uint64_t page, std::uint64_t i) const noexcept {
    const std::uint64_t word = i == 0 ? 1 : 2 + Entry::kWords * (i - 1);
    return page_at(page) + word * view_.width();
  }

  const FileView& view_;
  FileVisitor& visitor_;
  TreeSizes sizes_ = {};
  GrowingArray<std::uint8_t> reached_;
  std::uint64_t link_at_ = 0;
  std::uint64_t leaf_level_ = 0;
  std::uint64_t last_key_ = 0;
  bool has_any_ = false;
};

}  // namespace

void walk_database(const FileView& view, FileVisitor& visitor) noexcept {
  TreeWalk(view, visitor).walk();
}

}  // namespace jitquill::oprofile
