// Spreads keys that are alike over the slots of a table.
//
// Context   any; arithmetic.
#pragma once

#include <cstdint>

#include "writer/bytes/hash.hpp"

namespace jitquill::intake {

inline std::uint64_t mixed(std::uint64_t key) noexcept {
  return mix(0, key);
}

}  // namespace jitquill::intake
