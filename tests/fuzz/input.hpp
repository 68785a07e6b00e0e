// The bytes that a fuzzer made up, read from the front as whatever the harness needs next.
//
// Context   fuzzers.
// Promises  behind the end everything is 0, so that each input means something.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>

namespace fuzz {

using Bytes = std::span<const std::uint8_t>;

class Input {
 public:
  explicit Input(Bytes bytes) : rest_(bytes) {}

  bool is_empty() const { return rest_.empty(); }
  Bytes rest() const { return rest_; }
  // Fewer at the end.
  Bytes take(std::size_t size) {
    const Bytes taken = rest_.first(std::min(size, rest_.size()));
    rest_ = rest_.subspan(taken.size());
    return taken;
  }
  template <class T>
  T next() {
    T value{};
    const Bytes from = take(sizeof value);
    if (!from.empty()) std::memcpy(&value, from.data(), from.size());
    return value;
  }
  std::uint8_t byte() { return next<std::uint8_t>(); }

 private:
  Bytes rest_;
};

}  // namespace fuzz
