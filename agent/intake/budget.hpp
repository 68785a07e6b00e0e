// How much of a long row is done in one go, by a thread that must not be kept for long.
//
// Context   any; plain values.
// Promises  as many pieces as the time allows, and no fewer than a slow machine would do in it: who was
//           stopped meanwhile gets on, too. The time begins when the first piece is done, which may have
//           fetched what the others need.
#pragma once

#include <cstddef>
#include <cstdint>

#include "agent/base/clock.hpp"

namespace jitquill::intake {

class Budget {
 public:
  explicit constexpr Budget(std::uint64_t ns) noexcept : Budget(ns, ns / kPieceNs) {}
  constexpr Budget(std::uint64_t ns, std::uint64_t at_least) noexcept : ns_(ns), at_least_(at_least) {}

  // Asked before each piece.
  bool allows_one_more() noexcept {
    if (done_ == 1) until_ns_ = monotonic_ns() + ns_;
    return done_++ < at_least_ || monotonic_ns() < until_ns_;
  }

 private:
  static constexpr std::uint64_t kPieceNs = 100'000;  // a function is told in a tenth to a half of that

  std::uint64_t ns_;
  std::uint64_t at_least_;
  std::uint64_t done_ = 0;
  std::uint64_t until_ns_ = 0;
};

}  // namespace jitquill::intake
