#include "writer/openj9/calendar.hpp"

#include <cstddef>

namespace jitquill::openj9 {
namespace {

void put_digits(char* end, std::uint64_t value, std::size_t count) noexcept {
  for (; count != 0; --count, value /= 10) *--end = static_cast<char>('0' + value % 10);
}

}  // namespace

// Of the civil calendar, in eras of 400 years that begin in March.
DateText::DateText(std::uint64_t days_since_1970) noexcept {
  constexpr std::uint64_t kDaysTo1970 = 719'468, kDaysOfEra = 146'097;
  const std::uint64_t days = days_since_1970 + kDaysTo1970;
  const std::uint64_t era = days / kDaysOfEra, of_era = days % kDaysOfEra;
  const std::uint64_t year = (of_era - of_era / 1460 + of_era / 36'524 - of_era / 146'096) / 365;
  const std::uint64_t of_year = of_era - (365 * year + year / 4 - year / 100);
  const std::uint64_t from_march = (5 * of_year + 2) / 153;
  const std::uint64_t month = from_march < 10 ? from_march + 3 : from_march - 9;
  put_digits(text_ + 4, era * 400 + year + (month <= 2 ? 1 : 0), 4);
  put_digits(text_ + 7, month, 2);
  put_digits(text_ + 10, of_year - (153 * from_march + 2) / 5 + 1, 2);
  text_[4] = text_[7] = '-';
}

TimeText::TimeText(const Clock& clock, std::uint64_t ticks) noexcept {
  const std::uint64_t ms = clock.ms_of(ticks) % kMsPerDay;
  put_digits(text_ + 2, ms / 3'600'000, 2);
  put_digits(text_ + 5, ms / 60'000 % 60, 2);
  put_digits(text_ + 8, ms / 1000 % 60, 2);
  put_digits(text_ + 12, ms % 1000, 3);
  put_digits(text_ + 18, (ticks - clock.start_ticks) % Clock::kTicksPerMs, 6);
  text_[2] = text_[5] = ':';
  text_[8] = '.';
}

}  // namespace jitquill::openj9
