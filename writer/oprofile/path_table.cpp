#include "writer/oprofile/path_table.hpp"

#include <algorithm>

#include "writer/bytes/bytes.hpp"

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

bool is_table_size(std::uint32_t entries) noexcept {
  return is_prime(entries) && entries <= kMostEntries;
}

PathTable::Index PathTable::add(std::uint32_t parent, std::string_view component) noexcept {
  const std::string_view text(component.data(), std::min(component.find('\0'), component.size()));
  if (text.empty() || parent >= size_ || is_free(parent)) return {Status::kBadArgument};
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

PathTable::Index PathTable::add_path(std::string_view path) noexcept {
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
PathTable::Index PathTable::place(std::uint32_t parent, std::string_view component) noexcept {
  const std::uint32_t first = (component_hash(component) ^ parent) % size_;
  const std::uint32_t step = std::max<std::uint32_t>(1, first);
  std::uint32_t slot = first;
  do {
    if (slot != kRoot && is_free(slot)) {
      if (const Status status = fill(slot, parent, component); status != Status::kOk) return {status};
      ++used_;
      return {Status::kOk, slot};
    }
    if (slot != kRoot && is(slot, parent, component)) return {Status::kOk, slot};
    slot = static_cast<std::uint32_t>((std::uint64_t{slot} + step) % size_);
  } while (slot != first);
  return {Status::kFull};
}

}  // namespace jitquill::oprofile
