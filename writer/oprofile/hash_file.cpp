#include "writer/oprofile/hash_file.hpp"

#include <algorithm>
#include <cstring>

#include "writer/oprofile/header.hpp"

namespace jitquill::oprofile {
namespace {

// Words behind the header that all kinds have; entries follow.
constexpr std::size_t kEntries = 0, kPoolSize = 1, kSizes = 2;
constexpr std::size_t kLeastPool = 2;  // the root's name
constexpr std::size_t kMostPool = std::size_t{1} << 31;

}  // namespace

// The magic comes last.
Status HashFile::make(int descriptor, const Shape& shape) noexcept {
  if (is_open() || !is_table_size(shape.entries) || shape.pool_size < 2) return Status::kBadArgument;
  if (!shape.words.fits(shape.entries) || !shape.words.fits(shape.pool_size) || shape.pool_size > kMostPool)
    return Status::kTooLarge;
  words_ = shape.words;
  set_sizes(shape.entries, 1);
  pool_size_ = shape.pool_size;
  if (const Status status = file_.open(descriptor, pool_at() + pool_size_); status != Status::kOk)
    return status;
  for (std::uint32_t slot = 1; slot < size(); ++slot) words_.store(parent_of(slot), words_.nil());
  *pool() = '/';
  pool_used_ = kLeastPool;
  words_.store(word(kEntries), size());
  words_.store(word(kPoolSize), pool_size_);
  Bytes header(std::span<std::uint8_t>(file_.data(), header_size(words_)));
  put_header(Kind::kHashMap, words_, header);
  return Status::kOk;
}

Opened HashFile::open(int descriptor) noexcept {
  if (is_open()) return {Status::kBadArgument};
  if (const Status status = file_.open_again(descriptor); status != Status::kOk) return {status};
  FirstFault fault;
  FileView view;
  fault.look_at({file_.data(), file_.size()}, Kind::kHashMap, view);
  Opened opened = fault.opened();
  if (opened.status == Status::kOk) {
    words_ = view.words();
    const std::uint64_t entries = view.number(view.data_at());
    set_sizes(static_cast<std::uint32_t>(entries), 1);
    pool_size_ = view.number(view.data_at() + words_.width());
    const bool is_map = entries < kMostPool && is_table_size(static_cast<std::uint32_t>(entries));
    if (!is_map || pool_size_ < kLeastPool)
      opened = {Status::kBadArgument, FileRule::kMapSize, view.data_at()};
  }
  if (opened.status == Status::kOk)
    forget_names_of_none();
  else
    file_.close();
  return opened;
}

// What the last kill left behind the names, and in entries that are none.
void HashFile::forget_names_of_none() noexcept {
  std::uint32_t used = 1;
  pool_used_ = kLeastPool;
  for (std::uint32_t slot = 1; slot < size(); ++slot) {
    if (is_free(slot)) {
      std::memset(name_of(slot), 0, words_.width());
      continue;
    }
    ++used;
    const auto name = static_cast<std::size_t>(words_.load(name_of(slot)));
    pool_used_ = std::max(pool_used_, name + std::strlen(pool() + name) + 1);
  }
  set_sizes(size(), used);
  std::memset(pool() + pool_used_, 0, pool_size_ - pool_used_);
}

Status HashFile::close() noexcept {
  if (!is_open()) return Status::kBadArgument;
  Status status = Status::kOk;
  if (file_.size() > pool_at() + pool_size_) status = file_.cut(pool_at() + pool_size_);
  file_.close();
  return status;
}

bool HashFile::is_free(std::uint32_t slot) const noexcept {
  return words_.load(parent_of(slot)) == words_.nil();
}

bool HashFile::is(std::uint32_t slot, std::uint32_t parent, std::string_view component) const noexcept {
  if (words_.load(parent_of(slot)) != parent) return false;
  const auto name = static_cast<std::size_t>(words_.load(name_of(slot)));
  return pool_used_ - name > component.size() &&
         std::memcmp(pool() + name, component.data(), component.size()) == 0 &&
         pool()[name + component.size()] == '\0';
}

// The parent is the one store that counts. Some entries stay free: in a full table a path that is not there
// is looked for in all of it.
Status HashFile::fill(std::uint32_t slot, std::uint32_t parent, std::string_view component) noexcept {
  if (used() >= most_used(size())) return Status::kFull;
  if (const Status status = make_room(pool_used_ + component.size() + 1); status != Status::kOk)
    return status;
  std::memcpy(pool() + pool_used_, component.data(), component.size());
  pool()[pool_used_ + component.size()] = '\0';
  words_.store(name_of(slot), pool_used_);
  words_.store_at_once(parent_of(slot), parent);
  pool_used_ += component.size() + 1;
  return Status::kOk;
}

Status HashFile::make_room(std::size_t pool_size) noexcept {
  if (pool_size <= pool_size_) return Status::kOk;
  const std::size_t wanted = std::max(pool_size, 2 * pool_size_);
  if (wanted > kMostPool || !words_.fits(wanted)) return Status::kFull;
  if (const Status status = file_.enlarge(pool_at() + wanted); status != Status::kOk) return status;
  pool_size_ = wanted;
  words_.store_at_once(word(kPoolSize), wanted);
  return Status::kOk;
}

std::size_t HashFile::pool_at() const noexcept {
  return header_size(words_) + (kSizes + 2 * std::size_t{size()}) * words_.width();
}

std::uint8_t* HashFile::word(std::size_t i) const noexcept {
  return file_.data() + header_size(words_) + i * words_.width();
}

}  // namespace jitquill::oprofile
