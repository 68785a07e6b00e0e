#include "writer/jitdump/seen_code.hpp"

#include <algorithm>
#include <functional>
#include <new>
#include <string_view>

namespace jitquill::jitdump {
namespace {

constexpr std::size_t kBits = std::size_t{1} << 20;
constexpr std::size_t kWords = kBits / 64;
constexpr std::size_t kHashedAtEachEnd = 32;
constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15;

std::uint64_t hash(std::span<const std::uint8_t> bytes) noexcept {
  return std::hash<std::string_view>{}({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

std::uint64_t hash_of(std::span<const std::uint8_t> code) noexcept {
  const std::size_t part = std::min(code.size(), kHashedAtEachEnd);
  return ((hash(code.first(part)) + code.size()) * kOdd ^ hash(code.last(part))) * kOdd;
}

}  // namespace

SeenCode::~SeenCode() {
  ::operator delete(bits_);
}

bool SeenCode::test_and_set(std::uint64_t bit) noexcept {
  std::uint64_t& word = bits_[bit / 64 % kWords];
  const std::uint64_t mask = std::uint64_t{1} << bit % 64;
  const bool was_set = (word & mask) != 0;
  word |= mask;
  return was_set;
}

bool SeenCode::meets(std::span<const std::uint8_t> code) noexcept {
  if (bits_ == nullptr) {
    bits_ = static_cast<std::uint64_t*>(::operator new(kWords * sizeof(std::uint64_t), std::nothrow));
    if (bits_ == nullptr) return false;
    std::fill_n(bits_, kWords, 0);
  }
  const std::uint64_t value = hash_of(code);
  const bool first = test_and_set(value >> 44);
  const bool second = test_and_set(value >> 20);
  return first && second;
}

}  // namespace jitquill::jitdump
