// The CPU's counter as CLOCK_MONOTONIC: straight lines between pairs of both that were read together.
//
// Context   [drain]; any one thread.
// Promises  later ticks are never an earlier time, as long as no pair is added in between: a thread's times
//           are held together by whoever asks (pairing.hpp). One multiplication where the ticks lie between
//           the same two pairs as the last ones.
// Does not  trust the pairs: those that run backwards are left out.
#pragma once

#include <cstddef>
#include <cstdint>

namespace jitquill::drain {

class Clock {
  static constexpr unsigned kShift = 32;

 public:
  // False: not later than the last one. Of many the second is forgotten: the first tells the rate.
  bool add(std::uint64_t ticks, std::uint64_t ns) noexcept;
  // In place of the last pair of two or more. False: not later than that.
  bool move_last(std::uint64_t ticks, std::uint64_t ns) noexcept;
  std::size_t pairs() const noexcept { return count_; }
  // What is asked of many ticks at once.
  struct Line {
    std::uint64_t from = 0;  // [from, from + span) in ticks
    std::uint64_t span = 0;
    std::uint64_t ns = 0;
    std::uint64_t slope = std::uint64_t{1} << kShift;

    bool has(std::uint64_t ticks) const noexcept { return ticks - from < span; }
    std::uint64_t ns_of(std::uint64_t ticks) const noexcept {
      const auto behind = static_cast<unsigned __int128>(ticks - from) * slope >> kShift;
      return ns + static_cast<std::uint64_t>(behind);
    }
  };
  // The one that the last ns_of() used: it has no ticks where none was asked since the last pair.
  const Line& line() const noexcept { return line_; }
  // Where there is a pair.
  std::uint64_t first_ns() const noexcept { return pairs_[0].ns; }
  std::uint64_t last_ns() const noexcept { return pairs_[count_ - 1].ns; }

  // Before the first and behind the last pair the nearest line goes on. With one pair a tick is 1 ns.
  std::uint64_t ns_of(std::uint64_t ticks) noexcept {
    if (!line_.has(ticks)) [[unlikely]]
      choose_line(ticks);
    return line_.ns_of(ticks);
  }

 private:
  static constexpr std::size_t kMostPairs = 65;  // as many as a pool's header has, and the next
  struct Pair {
    std::uint64_t ticks;
    std::uint64_t ns;
  };

  bool is_later(std::uint64_t ticks, std::uint64_t ns) const noexcept;
  void choose_line(std::uint64_t ticks) noexcept;

  Pair pairs_[kMostPairs] = {};
  std::size_t count_ = 0;
  Line line_;
};

}  // namespace jitquill::drain
