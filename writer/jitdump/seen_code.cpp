#include "writer/jitdump/seen_code.hpp"

#include <algorithm>
#include <cstring>
#include <new>

namespace jitquill::jitdump {
namespace {

constexpr std::size_t kBits = std::size_t{1} << 20;
constexpr std::size_t kWords = kBits / 64;
constexpr std::size_t kHashedAtEachEnd = 32;
constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15;

// Its high bits depend on all that was mixed in.
std::uint64_t mix(std::uint64_t hash, std::uint64_t word) noexcept {
  const std::uint64_t product = (hash ^ word) * kOdd;
  return product ^ product >> 32;
}

std::uint64_t word_at(const std::uint8_t* at, std::size_t size = sizeof(std::uint64_t)) noexcept {
  std::uint64_t word = 0;
  std::memcpy(&word, at, size);
  return word;
}

// Not empty. The last word overlaps the one before it.
std::uint64_t mix_all(std::uint64_t hash, std::span<const std::uint8_t> bytes) noexcept {
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  if (bytes.size() < kWord) return mix(hash, word_at(bytes.data(), bytes.size()));
  for (std::size_t at = 0; at + kWord < bytes.size(); at += kWord)
    hash = mix(hash, word_at(bytes.data() + at));
  return mix(hash, word_at(bytes.data() + bytes.size() - kWord));
}

std::uint64_t hash_of(std::span<const std::uint8_t> code) noexcept {
  const std::size_t part = std::min(code.size(), kHashedAtEachEnd);
  return mix(mix_all(mix_all(code.size(), code.first(part)), code.last(part)), 0);
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
