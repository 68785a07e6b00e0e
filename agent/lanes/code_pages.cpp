#include "agent/lanes/code_pages.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "agent/base/arena.hpp"

namespace jitquill {
namespace {

constexpr std::size_t kNodeSize = 2048;  // of a page in std::map: key, value, three links and a colour

}  // namespace

// Without a branch on what is found: the next one is anywhere.
std::size_t CodePages::Page::count_below(std::uint64_t address) const noexcept {
  if (starts[count - 1] < address) return count;  // JITs go upwards
  std::size_t below = 0;
  for (std::size_t left = count; left > 1;) {
    const std::size_t half = left / 2;
    below += starts[below + half - 1] < address ? half : 0;
    left -= half;
  }
  return below + (starts[below] < address ? 1 : 0);
}

CodePages::Pages::iterator CodePages::page_of(std::uint64_t address) noexcept {
  if (address - low_ < high_ - low_) return last_;
  if (pages_.empty()) return pages_.end();
  const auto above = pages_.upper_bound(address);
  last_ = above == pages_.begin() ? above : std::prev(above);
  const auto next = std::next(last_);
  low_ = last_ == pages_.begin() ? 0 : last_->first;
  high_ = next == pages_.end() ? kTop : next->first;
  return last_;
}

// Behind the last of a page is the first of the next.
CodePages::Place CodePages::settled(Pages::iterator page, std::size_t index) noexcept {
  if (index < page->second.count) return {page, index};
  const bool is_last_page = page == last_ && high_ == kTop;
  return {is_last_page ? pages_.end() : std::next(page), 0};
}

CodePages::Place CodePages::at_or_above(std::uint64_t address) noexcept {
  const auto page = page_of(address);
  if (page == pages_.end()) return {page, 0};
  return settled(page, page->second.count_below(address));
}

void CodePages::step(Place& place) noexcept {
  place = settled(place.page_, place.index_ + 1);
}

bool CodePages::step_back(Place& place) noexcept {
  if (place.index_ == 0) {
    if (place.page_ == pages_.begin()) return false;
    --place.page_;
    place.index_ = place.page_->second.count;
  }
  --place.index_;
  return true;
}

bool CodePages::can_insert() noexcept {
  static_assert(sizeof(Pages::value_type) + 4 * sizeof(void*) <= kNodeSize);
  if (!spare_.empty()) return true;
  if (!arena().can_serve(kNodeSize)) return false;
  Pages one;
  one.try_emplace(0);
  spare_ = one.extract(one.begin());
  return true;
}

// From the spare one: it is empty, and its place in the tree is behind the page that was asked for last, of
// whose addresses it takes those from `least` on.
CodePages::Pages::iterator CodePages::add_page(std::uint64_t least) noexcept {
  const auto behind = high_ == kTop ? pages_.end() : std::next(last_);
  spare_.key() = least;
  spare_.mapped().count = 0;
  last_ = pages_.insert(behind, std::move(spare_));
  low_ = least;
  return last_;
}

// A full page gives up its upper half, but to code that goes on behind it: then what comes upwards fills
// pages.
CodePages::Pages::iterator CodePages::make_room(Pages::iterator page, std::uint64_t address) noexcept {
  Page& full = page->second;
  if (full.starts[full.count - 1] < address) return add_page(address);
  constexpr std::size_t kKept = Page::kMost / 2;
  const auto added = add_page(full.starts[kKept]);
  Page& upper = added->second;
  std::copy(full.starts + kKept, full.starts + full.count, upper.starts);
  std::copy(full.codes + kKept, full.codes + full.count, upper.codes);
  upper.count = full.count - kKept;
  full.count = kKept;
  return address < added->first ? page : added;
}

LiveCode& CodePages::insert(std::uint64_t address) noexcept {
  auto at = page_of(address);
  if (at == pages_.end()) {
    high_ = kTop;
    at = add_page(0);
  }
  if (at->second.count == Page::kMost) at = make_room(at, address);
  Page& page = at->second;
  const std::size_t index = page.count == 0 ? 0 : page.count_below(address);
  std::copy_backward(page.starts + index, page.starts + page.count, page.starts + page.count + 1);
  std::copy_backward(page.codes + index, page.codes + page.count, page.codes + page.count + 1);
  page.starts[index] = address;
  ++page.count;
  return page.codes[index];
}

// The first page stays, since it takes all below it: it becomes the second.
CodePages::Pages::iterator CodePages::drop_page(Pages::iterator page) noexcept {
  auto next = std::next(page);
  forget_last();
  if (page == pages_.begin() && next != pages_.end()) {
    page->second = next->second;
    std::swap(page, next);
  }
  auto dropped = pages_.extract(page);
  if (spare_.empty()) spare_ = std::move(dropped);
  return next;
}

// Pages that are nearly empty would keep their memory.
bool CodePages::merge_with_next(Pages::iterator page) noexcept {
  const auto next = std::next(page);
  if (next == pages_.end()) return false;
  Page& to = page->second;
  const Page& from = next->second;
  if (to.count + from.count > Page::kMost / 2) return false;
  std::copy(from.starts, from.starts + from.count, to.starts + to.count);
  std::copy(from.codes, from.codes + from.count, to.codes + to.count);
  to.count += from.count;
  (void)drop_page(next);
  return true;
}

CodePages::Place CodePages::erase(Place place) noexcept {
  const auto at = place.page_;
  const std::size_t index = place.index_;
  Page& page = at->second;
  if (page.count == 1) return {drop_page(at), 0};
  std::copy(page.starts + index + 1, page.starts + page.count, page.starts + index);
  std::copy(page.codes + index + 1, page.codes + page.count, page.codes + index);
  --page.count;
  if (page.count >= Page::kMost / 4) return settled(at, index);
  (void)merge_with_next(at);
  if (at == pages_.begin()) return settled(at, index);
  const auto before = std::prev(at);
  const std::size_t count_before = before->second.count;
  return merge_with_next(before) ? settled(before, count_before + index) : settled(at, index);
}

}  // namespace jitquill
