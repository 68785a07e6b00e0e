#include "writer/bytes/bytes.hpp"

#include <limits>
#include <new>

namespace jitquill {
namespace {

constexpr std::size_t kFirstCapacity = 1024;

}  // namespace

Bytes::~Bytes() {
  if (!is_fixed_) ::operator delete(data_);
}

bool Bytes::grow_to(std::size_t capacity) noexcept {
  auto* const grown = static_cast<std::uint8_t*>(::operator new(capacity, std::nothrow));
  if (grown == nullptr) return false;
  if (size_ != 0) std::memcpy(grown, data_, size_);
  ::operator delete(data_);
  data_ = grown;
  capacity_ = capacity;
  return true;
}

bool Bytes::make_room(std::size_t count) noexcept {
  if (failed_) return false;
  failed_ = is_fixed_;
  if (is_fixed_) return false;
  constexpr std::size_t kMax = std::numeric_limits<std::size_t>::max() / 2;
  const bool fits = size_ <= kMax && count <= kMax - size_;
  std::size_t capacity = capacity_ == 0 ? kFirstCapacity : capacity_;
  while (fits && capacity < size_ + count) capacity *= 2;
  failed_ = !fits || !grow_to(capacity);
  return !failed_;
}

Bytes& Bytes::fill(std::uint8_t v, std::size_t count) noexcept {
  if (count == 0) return *this;
  if (std::uint8_t* const room = room_for(count)) std::memset(room, v, count);
  return *this;
}

Bytes& Bytes::pad_to(std::size_t alignment, std::uint8_t v, std::size_t from) noexcept {
  const std::size_t over = (size_ - from) % alignment;
  return over == 0 ? *this : fill(v, alignment - over);
}

void Bytes::clear() noexcept {
  size_ = 0;
  failed_ = false;
  if (capacity_ <= kKeptCapacity || is_fixed_) return;
  ::operator delete(data_);
  data_ = nullptr;
  capacity_ = 0;
}

}  // namespace jitquill
