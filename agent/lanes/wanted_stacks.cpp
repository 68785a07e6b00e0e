// What hooks do with it; tell_wanted_stacks.cpp has the drain's part.
#include "agent/lanes/wanted_stacks.hpp"

namespace jitquill::lanes {

constinit std::atomic<const WantedTable*> g_wanted_stacks{nullptr};

// Whoever reads one of these words as it is written here sees `writing_` so too, and looks at it last.
bool WantedTable::search(std::uint64_t address, bool& is_wanted) const noexcept {
  const std::uint64_t writing = writing_.load(std::memory_order_acquire);
  if (writing % 2 != 0) return false;
  std::uint64_t low = 0;
  std::uint64_t high = count_.load(std::memory_order_acquire);
  while (high - low > 1) {  // at `low` one begins at or below the address
    const std::uint64_t middle = (low + high) / 2;
    if (cells()[middle].start.load(std::memory_order_acquire) <= address)
      low = middle;
    else
      high = middle;
  }
  is_wanted = cells()[low].is_wanted.load(std::memory_order_acquire) != 0;
  return writing_.load(std::memory_order_relaxed) == writing;
}

// Ends: what is told meanwhile is told elsewhere, and to look there is the next round.
bool is_stack_wanted(std::uint64_t address) noexcept {
  bool is_wanted = false;
  const WantedTable* told = nullptr;
  do {
    told = g_wanted_stacks.load(std::memory_order_acquire);
  } while (told != nullptr && !told->search(address, is_wanted));
  return is_wanted;
}

}  // namespace jitquill::lanes
