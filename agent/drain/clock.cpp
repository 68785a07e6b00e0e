#include "agent/drain/clock.hpp"

#include <algorithm>

namespace jitquill::drain {

bool Clock::is_later(std::uint64_t ticks, std::uint64_t ns) const noexcept {
  return count_ == 0 || (ticks > pairs_[count_ - 1].ticks && ns >= pairs_[count_ - 1].ns);
}

bool Clock::move_last(std::uint64_t ticks, std::uint64_t ns) noexcept {
  if (count_ < 2 || !is_later(ticks, ns)) return false;
  pairs_[count_ - 1] = {ticks, ns};
  line_.span = 0;
  return true;
}

bool Clock::add(std::uint64_t ticks, std::uint64_t ns) noexcept {
  if (!is_later(ticks, ns)) return false;
  if (count_ == kMostPairs) {
    std::copy(pairs_ + 2, pairs_ + kMostPairs, pairs_ + 1);
    --count_;
  }
  pairs_[count_++] = {ticks, ns};
  line_.span = 0;  // the last line may bend now
  return true;
}

void Clock::choose_line(std::uint64_t ticks) noexcept {
  constexpr std::uint64_t kMost = ~std::uint64_t{0};
  const Pair* const first = pairs_;
  const Pair* const end = pairs_ + count_;
  const Pair* const next =
      std::upper_bound(first, end, ticks, [](std::uint64_t t, const Pair& pair) { return t < pair.ticks; });
  // The line through a and b; what is beyond both goes on with it.
  const Pair* const b = count_ < 2 ? first : std::clamp(next, first + 1, end - 1);
  const Pair* const a = count_ < 2 ? first : b - 1;
  line_.slope = std::uint64_t{1} << kShift;
  if (a != b) {
    const auto wide = (static_cast<unsigned __int128>(b->ns - a->ns) << kShift) / (b->ticks - a->ticks);
    line_.slope = wide > kMost ? kMost : static_cast<std::uint64_t>(wide);
  }
  line_.from = a->ticks;
  line_.ns = a->ns;
  line_.span = next == end ? kMost - line_.from : next->ticks - line_.from;
  if (ticks >= line_.from) return;
  // Before the first pair: for these ticks only, since there is no end to begin at.
  const auto before = static_cast<unsigned __int128>(line_.from - ticks) * line_.slope >> kShift;
  line_.ns = before < line_.ns ? line_.ns - static_cast<std::uint64_t>(before) : 0;
  line_.span = 1;
  line_.from = ticks;
}

}  // namespace jitquill::drain
