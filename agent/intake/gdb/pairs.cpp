#include "agent/intake/gdb/pairs.hpp"

#include <utility>

#include "agent/base/counters.hpp"
#include "agent/intake/gdb/entry_patch.hpp"

namespace jitquill::gdb {

bool Pairs::note(std::uint64_t function, std::uint64_t descriptor) noexcept {
  for (Pair& pair : all()) {
    if (pair.function != function || pair.descriptor != descriptor) continue;
    if (pair.is_patched && !has_jump(function)) pair.is_attached = pair.is_patched = false;
    return !pair.is_attached;
  }
  if (count_ == kMost) {
    if (std::exchange(left_out_, descriptor) != descriptor) count(Counter::gdb_interfaces_left_out);
    return false;
  }
  pairs_[count_++] = {function, descriptor, false, false};
  return true;
}

}  // namespace jitquill::gdb
