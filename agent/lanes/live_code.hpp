// What the code map remembers of one live function.
//
// Context   under the leaf lock; plain value, of one line of the cache.
#pragma once

#include <cstdint>

#include "agent/hooks/sites.hpp"
#include "agent/lanes/kept_code.hpp"

namespace jitquill {

struct LiveCode {
  std::uint64_t id = 0;
  std::uint64_t index = 0;           // of its last announcement (CodeLoad::index)
  std::uint64_t hash = 0;            // hash_of() its bytes if it was overheard; 0 = its runtime told us
  std::uint64_t twin_address = 0;    // 0 = none
  KeptCode* kept = nullptr;          // the map's own; null = it cannot be announced again
  sites::SiteList* sites = nullptr;  // the map's own; null = none that can be switched
  std::uint32_t size = 0;
  std::uint32_t tail = 0;  // bytes behind the code that perf maps for its unwinding tables
  std::uint32_t twin_size = 0;
  bool has_lines = false;
  bool has_inlining = false;
  bool has_unwinding = false;
  bool is_stopgap = false;

  // By its runtime, whose word counts; otherwise overheard.
  bool is_told() const noexcept { return hash == 0; }
};
static_assert(sizeof(LiveCode) == 64);

}  // namespace jitquill
