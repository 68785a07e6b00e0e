// What a call came to: a small number from one table (status.def), which also holds the texts.
//
// Context   any.
// Promises  text() is a constant string, never null.
#pragma once

#include <cstdint>

namespace jitquill {

enum class [[nodiscard]] Status : std::int32_t{
#define STATUS(name, NAME, number, text) name = number,
#include "writer/model/status.def"
#undef STATUS
};

// The news went where it should, perhaps with less than was asked.
constexpr bool is_done(Status s) noexcept {
  return static_cast<std::int32_t>(s) >= 0;
}

const char* text(Status s) noexcept;

}  // namespace jitquill
