#include "writer/oprofile/words.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>

namespace jitquill::oprofile {
namespace {

static_assert(std::endian::native == std::endian::little);

// Not as arguments of templates, which take no attributes along.
using OneStore64 [[gnu::may_alias, gnu::aligned(1)]] = std::uint64_t;
typedef std::uint8_t OneStore128 [[gnu::vector_size(16), gnu::may_alias, gnu::aligned(1)]];

// What the compiler would move across is on its own side of the store.
void store_behind_all(volatile OneStore64* to, OneStore64 value) noexcept {
  std::atomic_signal_fence(std::memory_order_seq_cst);
  *to = value;
  std::atomic_signal_fence(std::memory_order_seq_cst);
}
void store_behind_all(volatile OneStore128* to, OneStore128 value) noexcept {
  std::atomic_signal_fence(std::memory_order_seq_cst);
  *to = value;
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

}  // namespace

std::optional<Words> Words::in_order(std::span<const std::uint8_t> significance) noexcept {
  if (significance.empty() || significance.size() > kMostWidth) return std::nullopt;
  Words words(significance.size(), false);
  unsigned seen = 0;
  for (const std::uint8_t place : significance) {
    if (place >= significance.size() || (seen >> place & 1) != 0) return std::nullopt;
    seen |= 1u << place;
  }
  words.is_native_ = words.is_native_ && std::ranges::equal(significance, words.order());
  std::ranges::copy(significance, words.order_);
  return words;
}

Number Words::load(const std::uint8_t* from) const noexcept {
  std::uint64_t low = 0;
  if (is_native_) {
    std::memcpy(&low, from, sizeof low);
    return low;
  }
  if (width_ <= sizeof low) {
    for (std::size_t i = 0; i < width_; ++i) low |= std::uint64_t{from[i]} << 8 * order_[i];
    return low;
  }
  Number value = 0;
  for (std::size_t i = 0; i < width_; ++i) value |= Number{from[i]} << 8 * order_[i];
  return value;
}

void Words::store(std::uint8_t* to, Number v) const noexcept {
  const auto low = static_cast<std::uint64_t>(v), high = static_cast<std::uint64_t>(v >> 64);
  if (is_native_) {
    std::memcpy(to, &low, sizeof low);
    return;
  }
  for (std::size_t i = 0; i < width_; ++i) {
    const std::uint64_t half = order_[i] < sizeof low ? low : high;
    to[i] = static_cast<std::uint8_t>(half >> 8 * (order_[i] % sizeof low));
  }
}

void Words::store_at_once(std::uint8_t* to, Number v) const noexcept {
  std::uint8_t all[sizeof(OneStore128)];
  if (width_ <= sizeof(OneStore64)) {
    auto* const at = reinterpret_cast<OneStore64*>(to + width_ - sizeof(OneStore64));
    std::memcpy(all, at, sizeof *at);
    store(all + sizeof *at - width_, v);
    store_behind_all(at, *reinterpret_cast<const OneStore64*>(all));
  } else {
    auto* const at = reinterpret_cast<OneStore128*>(to + width_ - sizeof(OneStore128));
    std::memcpy(all, at, sizeof *at);
    store(all + sizeof *at - width_, v);
    store_behind_all(at, *reinterpret_cast<const OneStore128*>(all));
  }
}

void Words::put(Bytes& out, Number v) const noexcept {
  std::uint8_t bytes[kMostWidth];
  store(bytes, v);
  out.raw(std::span<const std::uint8_t>(bytes, width_));
}

}  // namespace jitquill::oprofile
