// Lets calls of a function of the host come to us instead, and keeps a way to call the function itself.
//
// For functions that the host reaches by direct calls, so that no loader can put another in their place. The
// first instructions are copied to a page of ours, behind which a jump goes on in the function; a jump to us
// takes their place.
//
// Context   [life]: under the intakes' lock, the function's object being mapped.
// Promises  nothing is written where another thread could be in the middle of those instructions (the process
//           has had one thread only), where they are not known to mean the same elsewhere, or where the
//           kernel forbids it: null then.
// Does not  undo it: a detour stays until the process is gone.
#pragma once

#include <cstdint>

namespace jitquill::intake {

// The address at which `function` can be called as it was. It is stored in `original` before the first call
// can come to `to`.
bool detour(std::uint64_t function, std::uint64_t to, std::uint64_t& original) noexcept;

template <class Function>
bool detour(Function* function, Function* to, Function*& original) noexcept {
  std::uint64_t kept = 0;
  if (!detour(reinterpret_cast<std::uint64_t>(function), reinterpret_cast<std::uint64_t>(to), kept))
    return false;
  original = reinterpret_cast<Function*>(kept);
  return true;
}

}  // namespace jitquill::intake
