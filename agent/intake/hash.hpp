// Spreads keys that are alike over the slots of a table.
//
// Context   any; arithmetic.
#pragma once

#include <cstdint>

namespace jitquill::intake {

inline std::uint64_t mixed(std::uint64_t key) noexcept {
  key *= 0x9E3779B97F4A7C15;
  return key ^ key >> 32;
}

}  // namespace jitquill::intake
