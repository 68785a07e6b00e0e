#include "writer/jitdump/seen_code.hpp"

#include <algorithm>
#include <functional>
#include <new>
#include <string_view>

namespace jitquill::jitdump {
namespace {

constexpr std::size_t kFirstCapacity = 1024;
constexpr std::size_t kHashedAtEachEnd = 48;

std::uint64_t hash(std::span<const std::uint8_t> bytes) noexcept {
  return std::hash<std::string_view>{}({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

std::uint64_t hash_of(std::span<const std::uint8_t> code) noexcept {
  const std::size_t part = std::min(code.size(), kHashedAtEachEnd);
  constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15;
  const std::uint64_t both = hash(code.first(part)) * kOdd ^ hash(code.last(part)) ^ code.size() * kOdd;
  return both == 0 ? 1 : both;  // 0 is a free slot
}

// Where `value` is, or the free slot for it.
std::uint64_t& slot_for(std::uint64_t* slots, std::size_t capacity, std::uint64_t value) noexcept {
  std::size_t at = value & (capacity - 1);
  while (slots[at] != 0 && slots[at] != value) at = (at + 1) & (capacity - 1);
  return slots[at];
}

}  // namespace

SeenCode::~SeenCode() {
  ::operator delete(slots_);
}

bool SeenCode::grow() noexcept {
  const std::size_t capacity = capacity_ == 0 ? kFirstCapacity : capacity_ * 2;
  auto* slots = static_cast<std::uint64_t*>(::operator new(capacity * sizeof(std::uint64_t), std::nothrow));
  if (slots == nullptr) return false;
  std::fill_n(slots, capacity, 0);
  for (std::size_t i = 0; i < capacity_; ++i) {
    if (slots_[i] != 0) slot_for(slots, capacity, slots_[i]) = slots_[i];
  }
  ::operator delete(slots_);
  slots_ = slots;
  capacity_ = capacity;
  return true;
}

bool SeenCode::meets(std::span<const std::uint8_t> code) noexcept {
  if (used_ * 2 >= capacity_ && !grow()) return false;
  const std::uint64_t value = hash_of(code);
  std::uint64_t& slot = slot_for(slots_, capacity_, value);
  if (slot == value) return true;
  slot = value;
  ++used_;
  return false;
}

}  // namespace jitquill::jitdump
