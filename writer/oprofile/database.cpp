#include "writer/oprofile/database.hpp"

#include <algorithm>
#include <cstring>

#include "writer/bytes/growing_array.hpp"

namespace jitquill::oprofile {

// What one insert makes behind the pages in use, from the leaf upwards.
struct Database::Change {
  Entry carried;                         // to be inserted at the next level
  std::uint64_t fresh;                   // the next page to stay
  std::uint64_t scratch;                 // the next page to be copied back
  std::uint64_t top = 0;                 // the highest level with a scratch page
  std::uint64_t copy_of[kMostLevels];    // each level's scratch page
  std::uint8_t* holder_of[kMostLevels];  // what links to it
};

Status Database::add(std::uint64_t key, std::uint64_t count) noexcept {
  if (!pages_.is_open() || count == 0) return Status::kBadArgument;
  const Words& words = pages_.words();
  if (!words.fits(key)) return Status::kTooLarge;
  const Found found = find(key);
  if (found.status != Status::kOk) return found.status;
  if (found.value == nullptr) return insert({words, words.nil(), std::min<Number>(count, words.nil()), key});
  const Number before = words.load(found.value);
  const Number room = words.nil() - before;
  words.store_at_once(found.value, before + std::min<Number>(count, room));
  return Status::kOk;
}

std::uint64_t Database::count_of(std::uint64_t key) noexcept {
  if (!pages_.is_open() || !pages_.words().fits(key)) return 0;
  const Found found = find(key);
  if (found.value == nullptr) return 0;
  constexpr Number kMost = ~std::uint64_t{0};
  return static_cast<std::uint64_t>(std::min(pages_.words().load(found.value), kMost));
}

Database::Found Database::find(std::uint64_t key) noexcept {
  levels_ = 0;
  const std::uint8_t* link = pages_.root_link();
  for (std::uint64_t page = pages_.page_of(link); page != kNoPage; page = pages_.page_of(link)) {
    // Somebody else has written into the file.
    if (page >= pages_.in_use() || levels_ == kMostLevels) return {Status::kWriteFailed};
    const std::uint64_t count = pages_.count_of(page);
    const std::uint64_t at = lower_bound(page, count, key);
    if (at != count && pages_.key(page, at) == key) return {Status::kOk, pages_.value(page, at)};
    path_[levels_++] = {page, at};
    link = pages_.link(page, at);
  }
  return {Status::kOk};
}

std::uint64_t Database::lower_bound(std::uint64_t page, std::uint64_t count, Number key) const noexcept {
  std::uint64_t first = 0;
  while (count != 0) {
    const std::uint64_t half = count / 2;
    const bool is_below = pages_.key(page, first + half) < key;
    first += is_below ? half + 1 : 0;
    count = is_below ? count - half - 1 : half;
  }
  return first;
}

Status Database::insert(const Entry& entry) noexcept {
  if (levels_ == 0) return plant(entry);
  const Step& leaf = path_[levels_ - 1];
  const std::uint64_t count = pages_.count_of(leaf.page);
  if (leaf.at != count || count == pages_.entries()) return replace_path(entry);
  append(leaf.page, count, entry);
  return Status::kOk;
}

Status Database::plant(const Entry& entry) noexcept {
  const std::uint64_t page = pages_.in_use();
  if (const Status status = pages_.reserve(1, 0); status != Status::kOk) return status;
  append(page, 0, entry);
  pages_.take_in();
  pages_.words().store_at_once(pages_.root_link(), page);
  pages_.settle();
  return Status::kOk;
}

void Database::append(std::uint64_t page, std::uint64_t count, const Entry& entry) noexcept {
  pages_.put_entry(page, count, entry.bytes);
  pages_.words().store_at_once(pages_.count_word(page), count + 1);
}

// A kill leaves pages in use that are not in the tree. The last of those that are go into their places, one
// store each.
Opened Database::open(int descriptor) noexcept {
  Opened opened = pages_.open(descriptor);
  if (opened.status != Status::kOk) return opened;
  GrowingArray<std::uint8_t*> holders;
  if (!holders.grow_to(pages_.in_use(), nullptr)) {
    pages_.abandon();
    opened.status = Status::kNoMemory;
    return opened;
  }
  note_holders(pages_.root_link(), holders.all());
  std::uint64_t end = holders.size();
  const auto drop_lost = [&] {
    while (end != 0 && holders[end - 1] == nullptr) --end;
  };
  drop_lost();
  for (std::uint64_t page = 0; page < end; ++page) {
    if (holders[page] != nullptr) continue;
    move_page(end - 1, page, holders.all());
    drop_lost();
  }
  pages_.give_back(end);
  return opened;
}

// Where the link to each page is; an entry that was not counted yet goes. The walk has found no cycle, and no
// link out of the pages in use.
void Database::note_holders(std::uint8_t* link, std::span<std::uint8_t*> holders) noexcept {
  const std::uint64_t page = pages_.page_of(link);
  if (page == kNoPage) return;
  holders[page] = link;
  const std::uint64_t count = pages_.count_of(page);
  pages_.blank_from(page, count);
  for (std::uint64_t i = 0; i <= count; ++i) note_holders(pages_.link(page, i), holders);
}

void Database::move_page(std::uint64_t from, std::uint64_t to, std::span<std::uint8_t*> holders) noexcept {
  pages_.copy(from, to);
  pages_.words().store_at_once(holders[from], to);
  holders[to] = holders[from];
  holders[from] = nullptr;
  const std::uint64_t count = pages_.count_of(to);
  for (std::uint64_t i = 0; i <= count; ++i) {
    const std::uint64_t below = pages_.page_of(pages_.link(to, i));
    if (below != kNoPage) holders[below] = pages_.link(to, i);
  }
}

// Full pages are split, from the leaf up to the first that is not full; if there is none, a root is put
// above.
Status Database::replace_path(const Entry& entry) noexcept {
  std::size_t full = 0;
  while (full < levels_ && pages_.count_of(path_[levels_ - 1 - full].page) == pages_.entries()) ++full;
  const bool grows = full == levels_;
  const std::size_t fresh = full + (grows ? 1 : 0), scratch = full + (grows ? 0 : 1);
  if (const Status status = pages_.reserve(fresh, scratch); status != Status::kOk) return status;
  Change change;
  change.carried = entry;
  change.fresh = pages_.in_use();
  change.scratch = change.fresh + fresh;
  for (std::size_t level = levels_; level-- > levels_ - full;) make_two(change, level);
  if (!grows) make_anew(change, levels_ - full - 1);
  if (grows) make_root(change);
  pages_.take_in();
  // The one store that counts.
  const std::uint64_t new_top = grows ? change.fresh - 1 : change.copy_of[change.top];
  std::uint8_t* const place = change.top == 0
                                  ? pages_.root_link()
                                  : pages_.link(path_[change.top - 1].page, path_[change.top - 1].at);
  if (!grows) change.holder_of[change.top] = place;
  pages_.words().store_at_once(place, new_top);
  put_back(change);
  pages_.settle();
  return Status::kOk;
}

// The page of this level with what is carried in it.
void Database::make_anew(Change& change, std::size_t level) noexcept {
  const auto [page, at] = path_[level];
  const std::uint64_t copy = change.scratch++;
  const std::uint64_t count = pages_.count_of(page);
  change.copy_of[change.top = level] = copy;
  pages_.copy(page, copy);
  std::memmove(pages_.entry(copy, at + 1), pages_.entry(copy, at), (count - at) * pages_.entry_size());
  pages_.put_entry(copy, at, change.carried.bytes);
  pages_.words().store(pages_.count_word(copy), count + 1);
  hold(change, level + 1, pages_.link(copy, at));
}

// Of its entries and the one that is carried the first half stays, the last half goes to a new page, and the
// one between them is carried on.
void Database::make_two(Change& change, std::size_t level) noexcept {
  const auto [page, at] = path_[level];
  const std::uint64_t copy = change.scratch++, added = change.fresh++;
  const std::uint64_t half = pages_.entries() / 2;
  const Words& words = pages_.words();
  const auto nth = [&, carried_at = at](std::uint64_t i) -> const std::uint8_t* {
    if (i == carried_at) return change.carried.bytes;
    return pages_.entry(path_[level].page, i < carried_at ? i : i - 1);
  };
  Entry pivot;
  std::memcpy(pivot.bytes, nth(half), pages_.entry_size());
  std::memcpy(pages_.link(copy, 0), pages_.link(page, 0), words.width());
  std::memcpy(pages_.link(added, 0), pivot.bytes, words.width());
  for (std::uint64_t i = 0; i < half; ++i) pages_.put_entry(copy, i, nth(i));
  for (std::uint64_t i = 0; i < half; ++i) pages_.put_entry(added, i, nth(half + 1 + i));
  for (const std::uint64_t made : {copy, added}) {
    words.store(pages_.count_word(made), half);
    pages_.blank_from(made, half);
  }
  change.copy_of[change.top = level] = copy;
  hold(change, level + 1, at <= half ? pages_.link(copy, at) : pages_.link(added, at - half - 1));
  words.store(pivot.bytes, added);
  change.carried = pivot;
}

void Database::make_root(Change& change) noexcept {
  const std::uint64_t root = change.fresh++;
  pages_.blank(root);
  pages_.put_entry(root, 0, change.carried.bytes);
  pages_.words().store(pages_.count_word(root), 1);
  hold(change, 0, pages_.link(root, 0));
}

// `link` is where the page above has the scratch page of this level, if it has one.
void Database::hold(Change& change, std::size_t level, std::uint8_t* link) noexcept {
  if (level == levels_) return;
  change.holder_of[level] = link;
  pages_.words().store(link, change.copy_of[level]);
}

// Nobody links to the old pages now: each becomes what its scratch page is, and then one store links to it
// again.
void Database::put_back(const Change& change) noexcept {
  for (std::size_t level = levels_; level-- > change.top;) {
    pages_.copy(change.copy_of[level], path_[level].page);
    pages_.words().store_at_once(change.holder_of[level], path_[level].page);
  }
}

}  // namespace jitquill::oprofile
