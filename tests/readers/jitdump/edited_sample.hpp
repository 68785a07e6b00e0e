// Changes to the sample's bytes.
//
// Context   tests.
#pragma once

#include <algorithm>
#include <cstring>
#include <iterator>
#include <random>

#include "tests/readers/jitdump/sample.hpp"

namespace jitdump_reader {

using Bytes = std::vector<std::uint8_t>;

template <class T>
void put(Bytes& bytes, std::size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

template <class T>
void add(Bytes& bytes, std::size_t at, T change) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  put<T>(bytes, at, static_cast<T>(value + change));
}

// Inserts into the record that starts at `record`, whose size grows with it.
inline void insert(Bytes& bytes, std::size_t record, std::size_t at, const Bytes& what) {
  bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at), what.begin(), what.end());
  add<std::uint32_t>(bytes, record + 4, static_cast<std::uint32_t>(what.size()));
}

inline void erase(Bytes& bytes, std::size_t from, std::size_t to) {
  bytes.erase(bytes.begin() + static_cast<std::ptrdiff_t>(from),
              bytes.begin() + static_cast<std::ptrdiff_t>(to));
}

// Repeats the bytes [from, to) at `at`.
inline void repeat(Bytes& bytes, std::size_t from, std::size_t to, std::size_t at) {
  const Bytes copy(bytes.begin() + static_cast<std::ptrdiff_t>(from),
                   bytes.begin() + static_cast<std::ptrdiff_t>(to));
  bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at), copy.begin(), copy.end());
}

struct Range {
  std::int32_t start;
  std::uint32_t size;
};

// The sample's function described by two FDEs.
inline void describe_by_two(Bytes& bytes, Range first = {0, 10}, Range second = {10, 34}) {
  const auto fde = [&](std::size_t at, std::int32_t start, std::uint32_t range) {
    put<std::uint32_t>(bytes, at, 16);
    put<std::uint32_t>(bytes, at + 4, static_cast<std::uint32_t>(at + 4 - kBlobAt));
    put<std::int32_t>(bytes, at + 8, start - static_cast<std::int32_t>(48 + at + 8 - kBlobAt));
    put<std::uint32_t>(bytes, at + 12, range);
    put<std::uint32_t>(bytes, at + 16, 0);
  };
  fde(kFdeAt, first.start, first.size);
  fde(kFdeAt + 20, second.start, second.size);
  insert(bytes, kUnwindAt, kHdrAt + 20, Bytes(8));
  add<std::uint64_t>(bytes, kUnwindAt + 16, 8);
  add<std::uint64_t>(bytes, kUnwindAt + 24, 8);
  add<std::uint64_t>(bytes, kUnwindAt + 32, 8);
  put<std::uint32_t>(bytes, kHdrAt + 8, 2);
  put<std::int32_t>(bytes, kHdrAt + 12, -112 + first.start);
  put<std::int32_t>(bytes, kHdrAt + 16, 24 - 64);
  put<std::int32_t>(bytes, kHdrAt + 20, -112 + second.start);
  put<std::int32_t>(bytes, kHdrAt + 24, 44 - 64);
}

constexpr std::uint32_t kTwinDistance = 0x1000;
constexpr std::size_t kTwinGroupSize = kCloseAt - kUnwindAt + 8;  // one more header row than the sample's

// [UNWIND][LOAD] of the twin, then the sample's whole group.
inline void give_twin(Bytes& bytes) {
  describe_by_two(bytes, {0, 44}, {kTwinDistance, 44});
  repeat(bytes, kUnwindAt, kCloseAt + 8, kDebugAt);
  const std::size_t twin_load = kDebugAt + kLoadAt - kUnwindAt + 8;
  for (const std::size_t field : {24u, 32u})
    add<std::uint64_t>(bytes, twin_load + field, std::uint64_t{0} - kTwinDistance);
  put<std::uint64_t>(bytes, kTwinGroupSize + kUnwindAt + 32, 0);
}

// One random change.
inline void mutate(Bytes& bytes, std::mt19937& random) {
  const auto below = [&random](std::size_t limit) { return random() % std::max<std::size_t>(limit, 1); };
  const auto at = [&](std::size_t limit) {
    return bytes.begin() + static_cast<std::ptrdiff_t>(below(limit));
  };
  static constexpr std::uint8_t kExtremes[] = {0x00, 0x01, 0x7F, 0x80, 0xFE, 0xFF};
  switch (below(6)) {
    case 0:
      bytes.resize(below(bytes.size() + 1));
      break;
    case 1:
      bytes.insert(at(bytes.size() + 1), below(64), static_cast<std::uint8_t>(below(256)));
      break;
    case 2:
      bytes.erase(at(bytes.size() + 1), bytes.end());
      break;
    case 3:
      if (!bytes.empty()) *at(bytes.size()) = kExtremes[below(std::size(kExtremes))];
      break;
    default:
      if (!bytes.empty()) *at(bytes.size()) = static_cast<std::uint8_t>(below(256));
  }
}

}  // namespace jitdump_reader
