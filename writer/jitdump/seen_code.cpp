#include "writer/jitdump/seen_code.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "writer/bytes/hash.hpp"

namespace jitquill::jitdump {
namespace {

constexpr std::size_t kBits = std::size_t{1} << 20;
constexpr std::size_t kWords = kBits / 64;
constexpr std::size_t kHashedAtEachEnd = 32;

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

// The two ends do not wait for each other.
std::uint64_t hash_of(std::span<const std::uint8_t> code) noexcept {
  const std::size_t part = std::min(code.size(), kHashedAtEachEnd);
  const std::uint64_t front = mix_all(code.size(), code.first(part));
  return mix(front * kGoldenRatio, mix_all(0, code.last(part)));
}

}  // namespace

SeenCode::~SeenCode() {
  ::operator delete(words_);
}

SeenCode::Trace SeenCode::trace_of(std::span<const std::uint8_t> code) noexcept {
  Trace trace;
  if (code.empty()) return trace;
  if (words_ == nullptr) {
    words_ = static_cast<std::uint64_t*>(::operator new(kWords * sizeof(std::uint64_t), std::nothrow));
    if (words_ == nullptr) return trace;
    std::fill_n(words_, kWords, 0);
  }
  const std::uint64_t value = hash_of(code);
  trace.word = words_ + (value >> 44) % kWords;
  trace.bits = std::uint64_t{1} << (value >> 38) % 64 | std::uint64_t{1} << (value >> 32) % 64;
  __builtin_prefetch(trace.word, 1);
  return trace;
}

bool SeenCode::meets(const Trace& trace) noexcept {
  if (trace.word == nullptr) return false;
  const bool were_set = (*trace.word & trace.bits) == trace.bits;
  *trace.word |= trace.bits;
  return were_set;
}

}  // namespace jitquill::jitdump
