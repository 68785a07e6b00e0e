#include "writer/oprofile/hash_map.hpp"

#include <algorithm>
#include <cstring>

#include "writer/oprofile/header.hpp"

namespace jitquill::oprofile {
namespace {

constexpr std::string_view kSlash("\xE2\x88\x95");  // U+2215, which looks like one
constexpr std::uint32_t kMostEntries = 0x7FFFFFFF;  // itself a prime

bool is_prime(std::uint32_t number) noexcept {
  for (std::uint32_t i = 2; i <= number / i; ++i) {
    if (number % i == 0) return false;
  }
  return number >= 2;
}

}  // namespace

// In C's words of 2002: h = (h + (c << 4) + (c >> 4)) * 11, of a char with a sign, from the end.
std::uint32_t component_hash(std::string_view component) noexcept {
  std::uint32_t hash = 0;
  for (std::size_t i = component.size(); i-- > 0;) {
    const std::int32_t c = static_cast<signed char>(component[i]);
    hash = (hash + static_cast<std::uint32_t>(c * 16) + static_cast<std::uint32_t>(c >> 4)) * 11;
  }
  return hash;
}

std::uint32_t prime_from(std::uint32_t least) noexcept {
  if (least >= kMostEntries) return kMostEntries;
  while (!is_prime(least)) ++least;
  return least;
}

Status HashMap::make(std::uint32_t entries, std::size_t pool_size) noexcept {
  if (!is_prime(entries) || entries > kMostEntries || pool_size == 1) return Status::kBadArgument;
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
  used_ = 1;
  return Status::kOk;
}

HashMap::Index HashMap::add(std::uint32_t parent, std::string_view component) noexcept {
  const std::string_view text(component.data(), std::min(component.find('\0'), component.size()));
  if (text.empty() || parent >= entries_.size() || entries_[parent].parent == kEmpty)
    return {Status::kBadArgument};
  if (text.find('/') == text.npos) return place(parent, text);
  Bytes whole;
  for (const char c : text) {
    if (c == '/')
      whole.raw(kSlash);
    else
      whole.u8(static_cast<std::uint8_t>(c));
  }
  if (whole.failed()) return {Status::kNoMemory};
  return place(parent, {reinterpret_cast<const char*>(whole.view().data()), whole.size()});
}

HashMap::Index HashMap::add_path(std::string_view path) noexcept {
  Index last;
  for (std::size_t at = 0; at < path.size() && is_done(last.status);) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    if (end != at) last = add(last.index, {path.data() + at, end - at});
    at = end + 1;
  }
  return last;
}

// The first slot is also the step. Slot 0 is the root's: what belongs there moves on as from any other that
// is taken.
HashMap::Index HashMap::place(std::uint32_t parent, std::string_view component) noexcept {
  const auto size = static_cast<std::uint32_t>(entries_.size());
  const std::uint32_t first = (component_hash(component) ^ parent) % size;
  const std::uint32_t step = std::max<std::uint32_t>(1, first);
  std::uint32_t slot = first;
  do {
    Entry& entry = entries_[slot];
    if (slot != kRoot && entry.parent == kEmpty) {
      const auto name = static_cast<std::uint32_t>(pool_.size());
      if (pool_size_ != 0 && component.size() >= pool_size_ - pool_.size()) return {Status::kFull};
      if (pool_.size() + component.size() >= kEmpty) return {Status::kFull};
      if (!take_in(component)) return {Status::kNoMemory};
      entry = {name, parent};
      ++used_;
      return {Status::kOk, slot};
    }
    if (slot != kRoot && is(entry, parent, component)) return {Status::kOk, slot};
    slot = static_cast<std::uint32_t>((std::uint64_t{slot} + step) % size);
  } while (slot != first);
  return {Status::kFull};
}

bool HashMap::is(const Entry& entry, std::uint32_t parent, std::string_view component) const noexcept {
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
