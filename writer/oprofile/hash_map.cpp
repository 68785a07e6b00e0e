#include "writer/oprofile/hash_map.hpp"

#include <algorithm>
#include <cstring>

#include "writer/oprofile/header.hpp"

namespace jitquill::oprofile {

Status HashMap::make(std::uint32_t entries, std::size_t pool_size) noexcept {
  if (!is_table_size(entries) || pool_size == 1) return Status::kBadArgument;
  GrowingArray<Entry> fresh;
  GrowingArray<char> pool;
  pool_.swap(pool);
  pool_size_ = pool_size;
  if (!fresh.grow_to(entries, {0, kEmpty}) || !take_in("/")) {
    pool_.swap(pool);
    return Status::kNoMemory;
  }
  entries_.swap(fresh);
  entries_[kRoot] = {0, kRoot};
  set_sizes(entries, 1);
  return Status::kOk;
}

Status HashMap::fill(std::uint32_t slot, std::uint32_t parent, std::string_view component) noexcept {
  const auto name = static_cast<std::uint32_t>(pool_.size());
  if (pool_size_ != 0 && component.size() >= pool_size_ - pool_.size()) return Status::kFull;
  if (pool_.size() + component.size() >= kEmpty) return Status::kFull;
  if (!take_in(component)) return Status::kNoMemory;
  entries_[slot] = {name, parent};
  return Status::kOk;
}

bool HashMap::is(std::uint32_t slot, std::uint32_t parent, std::string_view component) const noexcept {
  const Entry& entry = entries_[slot];
  const char* const name = pool_.data() + entry.name;
  return entry.parent == parent && pool_.size() - entry.name > component.size() &&
         std::memcmp(name, component.data(), component.size()) == 0 && name[component.size()] == '\0';
}

bool HashMap::take_in(std::string_view component) noexcept {
  const std::size_t before = pool_.size();
  if (!pool_.reserve(before + component.size() + 1)) return false;
  std::memcpy(pool_.data() + before, component.data(), component.size());
  pool_.data()[before + component.size()] = '\0';
  pool_.set_size(before + component.size() + 1);
  return true;
}

// | header | entries | pool size | (name, parent) of each entry | pool |
Status HashMap::put(const Words& words, Bytes& out) const noexcept {
  const std::size_t pool_size = std::max(pool_size_, pool_.size());
  // An index must not look as none.
  if (!words.fits(entries_.size()) || !words.fits(pool_size)) return Status::kTooLarge;
  put_header(Kind::kHashMap, words, out);
  words.put(out, entries_.size());
  words.put(out, pool_size);
  for (const Entry& entry : entries_.all()) {
    words.put(out, entry.name);
    words.put(out, entry.parent == kEmpty ? words.nil() : Number{entry.parent});
  }
  out.raw(std::string_view(pool_.data(), pool_.size())).fill(0, pool_size - pool_.size());
  return Status::kOk;
}

}  // namespace jitquill::oprofile
