#include "agent/intake/memory.hpp"

namespace jitquill::intake {

Arena& memory() noexcept {
  static constinit Arena the_arena;
  return the_arena;
}

}  // namespace jitquill::intake
