#include "writer/oprofile/pages.hpp"

#include <algorithm>
#include <cstring>

#include "writer/oprofile/header.hpp"

namespace jitquill::oprofile {
namespace {

// Words of the file's own header, behind the one that all kinds have; the others are reserved.
constexpr std::size_t kTotal = 0, kInUse = 1, kRoot = 2, kPageEntries = 3;

constexpr std::size_t kFirstSize = 4096;  // of a file, where nothing else is asked for

}  // namespace

Entry::Entry(const Words& words, Number right, Number value, Number key) noexcept {
  words.store(bytes, right);
  words.store(bytes + words.width(), value);
  words.store(bytes + 2 * words.width(), key);
}

Status Pages::make(int descriptor, const Words& words, std::uint64_t page_entries,
                   std::uint64_t pages) noexcept {
  constexpr std::uint64_t kMostEntries = 1u << 20;
  if (page_entries < 4 || page_entries % 2 != 0 || page_entries > kMostEntries) return Status::kBadArgument;
  if (is_open()) return Status::kBadArgument;
  words_ = words;
  entries_ = page_entries;
  const std::size_t head = std::min(pages_at(), kFirstSize);
  total_ = pages != 0 ? pages : std::max<std::uint64_t>(1, (kFirstSize - head) / page_size());
  in_use_ = written_ = fresh_ = scratch_ = 0;
  std::size_t size;
  if (!words_.fits(total_) || !words_.fits(entries_) || !size_of(total_, size)) return Status::kTooLarge;
  if (const Status status = file_.open(descriptor, size); status != Status::kOk) return status;
  for (std::uint64_t page = 0; page < total_; ++page) blank(page);
  put_file_header();
  return Status::kOk;
}

Opened Pages::open(int descriptor) noexcept {
  Opened opened;
  if (is_open()) return {Status::kBadArgument};
  if (opened.status = file_.open_again(descriptor); opened.status != Status::kOk) return opened;
  FirstFault fault;
  FileView view;
  fault.look_at({file_.data(), file_.size()}, Kind::kDatabase, view);
  if (fault.opened().status != Status::kOk) {
    file_.close();
    return fault.opened();
  }
  words_ = view.words();
  entries_ = fault.sizes().page_entries;
  total_ = written_ = fault.sizes().pages;
  in_use_ = fault.sizes().in_use;
  fresh_ = scratch_ = 0;
  return opened;
}

Status Pages::close() noexcept {
  if (!is_open()) return Status::kBadArgument;
  for (std::uint64_t page = in_use_; page < std::min(written_, total_); ++page) blank(page);
  std::size_t size = 0;
  Status status = Status::kOk;
  if (size_of(total_, size) && size < file_.size()) status = file_.cut(size);
  file_.close();
  return status;
}

// As in 2002, a page that is wanted where all are in use doubles their number. Scratch pages may lie behind
// the last: until settle() they count too.
Status Pages::reserve(std::uint64_t fresh, std::uint64_t scratch) noexcept {
  std::uint64_t total = total_;
  for (std::uint64_t page = in_use_; page < in_use_ + fresh; ++page) total *= page == total ? 2 : 1;
  const std::uint64_t needed = std::max(total, in_use_ + fresh + scratch);
  std::size_t size;
  if (!words_.fits(needed) || !size_of(needed, size)) return Status::kTooLarge;
  if (const Status status = file_.enlarge(size); status != Status::kOk) return status;
  for (std::uint64_t page = total_; page < total; ++page) blank(page);
  if (needed != total_) say(kTotal, needed);
  total_ = total;
  fresh_ = fresh;
  scratch_ = scratch;
  written_ = std::max(written_, in_use_ + fresh + scratch);
  return Status::kOk;
}

void Pages::take_in() noexcept {
  say(kInUse, in_use_ + fresh_ + scratch_);
}

void Pages::settle() noexcept {
  in_use_ += fresh_;
  if (scratch_ != 0) say(kInUse, in_use_);
  if (in_use_ + scratch_ > total_) say(kTotal, total_);
  fresh_ = scratch_ = 0;
}

void Pages::give_back(std::uint64_t pages) noexcept {
  in_use_ = pages;
  say(kInUse, pages);
}

std::uint64_t Pages::page_of(const std::uint8_t* link) const noexcept {
  const Number page = words_.load(link);
  return page == words_.nil() ? kNoPage : static_cast<std::uint64_t>(page);
}

std::uint64_t Pages::count_of(std::uint64_t page) const noexcept {
  return std::min(static_cast<std::uint64_t>(words_.load(count_word(page))), entries_);
}

void Pages::put_entry(std::uint64_t page, std::uint64_t i, const std::uint8_t* from) const noexcept {
  std::memcpy(entry(page, i), from, entry_size());
}

// (NIL, 0, 0) each: in any order of bytes these are the same.
void Pages::blank_from(std::uint64_t page, std::uint64_t first) const noexcept {
  for (std::uint64_t i = first; i < entries_; ++i) {
    std::memset(entry(page, i), 0xFF, words_.width());
    std::memset(value(page, i), 0, 2 * words_.width());
  }
}

void Pages::blank(std::uint64_t page) const noexcept {
  std::memset(count_word(page), 0, words_.width());
  std::memset(link(page, 0), 0xFF, words_.width());
  blank_from(page, 0);
}

void Pages::copy(std::uint64_t from, std::uint64_t to) const noexcept {
  std::memcpy(count_word(to), count_word(from), page_size());
}

bool Pages::size_of(std::uint64_t pages, std::size_t& size) const noexcept {
  constexpr std::size_t kMost = std::size_t{1} << 47;  // of an address space
  return !__builtin_mul_overflow(pages, page_size(), &size) && size < kMost &&
         !__builtin_add_overflow(size, pages_at(), &size);
}

std::size_t Pages::pages_at() const noexcept {
  return header_size(words_) + kHeaderWords * words_.width();
}

std::uint8_t* Pages::header_word(std::size_t i) const noexcept {
  return file_.data() + header_size(words_) + i * words_.width();
}

std::uint8_t* Pages::word(std::uint64_t page, std::uint64_t i) const noexcept {
  return file_.data() + pages_at() + page * page_size() + i * words_.width();
}

void Pages::say(std::size_t i, std::uint64_t number) noexcept {
  words_.store_at_once(header_word(i), number);
}

// | header | pages there are | pages in use | root | entries of a page | 4 reserved |   The magic comes last.
void Pages::put_file_header() noexcept {
  words_.store(header_word(kTotal), total_);
  words_.store(header_word(kInUse), 0);
  words_.store(header_word(kRoot), words_.nil());
  words_.store(header_word(kPageEntries), entries_);
  Bytes header(std::span<std::uint8_t>(file_.data(), header_size(words_)));
  put_header(Kind::kDatabase, words_, header);
}

}  // namespace jitquill::oprofile
