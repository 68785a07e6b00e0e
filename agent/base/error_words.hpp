// What the kernel's answer means, in words.
//
// Context   [hook].
#pragma once

#include <cstring>

namespace jitquill {

// `error`: as raw calls answer, below 0. File systems may answer anything, also what has no name.
inline const char* error_words(long error) noexcept {
  const char* const known = strerrordesc_np(static_cast<int>(-error));
  return known != nullptr ? known : "an error that has no name";
}

}  // namespace jitquill
