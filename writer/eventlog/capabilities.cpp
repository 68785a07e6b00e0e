#include "writer/eventlog/capabilities.hpp"

namespace jitquill::eventlog {

std::uint16_t Capabilities::use(std::size_t number) noexcept {
  Row* const row = number < kNoCapability ? rows_.change(number) : nullptr;
  if (row == nullptr) return kNoCapability;
  row->is_in_use = 1;
  return static_cast<std::uint16_t>(number);
}

std::uint16_t Capabilities::take(std::uint64_t when_ns) noexcept {
  while (first_free_ < rows_.size() && rows_[first_free_].is_in_use != 0) ++first_free_;
  std::size_t number = first_free_;
  while (number < rows_.size() && (rows_[number].is_in_use != 0 || rows_[number].last_ns > when_ns)) ++number;
  return use(number);
}

void Capabilities::give_back(std::uint16_t number, std::uint64_t last_ns) noexcept {
  Row* const row = rows_.change(number);
  if (row == nullptr) return;
  row->is_in_use = 0;
  row->last_ns = last_ns;
  if (number < first_free_) first_free_ = number;
}

std::uint16_t Capabilities::named(std::uint16_t name) const noexcept {
  const std::uint32_t number = name < names_.size() ? names_[name].number : 0;
  return number == 0 ? kNoCapability : static_cast<std::uint16_t>(number - 1);
}

std::uint16_t Capabilities::name(std::uint16_t name, std::uint16_t wish, std::uint64_t when_ns) noexcept {
  if (const std::uint16_t number = named(name); number != kNoCapability) return number;
  const bool is_free = name < rows_.size() ? rows_[name].is_in_use == 0 && rows_[name].last_ns <= when_ns
                                           : name == rows_.size();
  const std::uint16_t number = wish != kNoCapability ? wish : is_free ? use(name) : take(when_ns);
  Name* const row = number == kNoCapability ? nullptr : names_.change(name);
  if (row == nullptr) return kNoCapability;
  row->number = number + std::uint32_t{1};
  return number;
}

}  // namespace jitquill::eventlog
