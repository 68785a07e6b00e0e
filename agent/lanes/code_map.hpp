// Which code lives where: live ranges by address, which never overlap.
//
// Context   under the leaf lock.
// Promises  a load ends the ranges that it overlaps. Every operation costs O(log live functions). 128 bytes
//           a live function, its sites aside.
// Does not  free its memory when it is forgotten: a child that found it half-changed may not touch it. Nor
//           keep ended ranges yet: their first user, run news, brings them in.
#pragma once

#include <cstdint>
#include <map>

#include "agent/hooks/sites.hpp"
#include "agent/lanes/kept_code.hpp"
#include "agent/lanes/twin_space.hpp"
#include "writer/model/code.hpp"

namespace jitquill {

struct LiveCode {
  std::uint64_t id = 0;
  std::uint64_t size = 0;
  std::uint64_t index = 0;  // of its last announcement (CodeLoad::index)
  std::uint64_t hash = 0;   // hash_of() its bytes if it was overheard; 0 = its runtime told us
  std::uint32_t tail = 0;   // bytes behind the code that perf maps for its unwinding tables
  std::uint32_t twin_size = 0;
  std::uint64_t twin_address = 0;    // 0 = none
  KeptCode* kept = nullptr;          // the map's own; null = it cannot be announced again
  sites::SiteList* sites = nullptr;  // the map's own; null = none that can be switched
  bool has_lines = false;
  bool has_inlining = false;
  bool has_unwinding = false;
  bool is_stopgap = false;

  // By its runtime, whose word counts; otherwise overheard.
  bool is_told() const noexcept { return hash == 0; }
};

// Of all bytes; never 0.
std::uint64_t hash_of(std::span<const std::uint8_t> code) noexcept;

class CodeMap {
 public:
  struct Added {
    bool has_memory = true;               // false: nothing was changed
    std::uint64_t replaced = 0;           // live functions that ended
    std::uint64_t tails_overwritten = 0;  // functions whose tail this code lies in
  };

  // How many bytes behind [address, address + size) belong to no live code, at most `wanted`.
  std::uint32_t free_room(std::uint64_t address, std::uint64_t size, std::uint32_t wanted) const noexcept;

  // `keeps_load`: `load` is remembered, so that it can be announced again; `code.kept` is set here.
  Added add(const CodeLoad& load, LiveCode code, bool keeps_load) noexcept;
  bool remove(std::uint64_t address) noexcept;
  void clear() noexcept;
  // As remove() of what find() has found, but its kept code is the caller's from now on.
  KeptCode* take(std::uint64_t address) noexcept;
  // Whether any of [address, address + size) is code that its runtime told us of.
  bool has_told(std::uint64_t address, std::uint64_t size) const noexcept;
  // How many bytes of [start, end) are live code.
  std::uint64_t bytes_in(std::uint64_t start, std::uint64_t end) const noexcept;
  // Valid until the next add() or remove().
  const LiveCode* find(std::uint64_t address) const noexcept;

  // Calls announce(address, code) for all that is remembered, upwards; it may change all but size and kept.
  template <class Announce>
  void for_each_kept(Announce announce) noexcept {
    if (live_ == nullptr) return;
    for (auto& [address, code] : live_->ranges) {
      if (code.kept != nullptr) announce(address, code);
    }
  }

  // Calls visit(sites) for all live code that has some.
  template <class Visit>
  void for_each_sites(Visit visit) noexcept {
    if (live_ == nullptr) return;
    for (auto& [address, code] : live_->ranges) {
      if (code.sites != nullptr) visit(*code.sites);
    }
  }

  TwinPlaces& twins() noexcept { return twins_; }
  // The twin of a load that was not added, or that is announced again with another.
  void give_back_twin(std::uint64_t address, std::uint64_t size) noexcept {
    if (address != 0) twins_.give_back(address, size);
  }

 private:
  using Ranges = std::map<std::uint64_t, LiveCode>;
  struct Live {
    Ranges ranges;
    Ranges::iterator newest = ranges.end();  // JITs go upwards: the next one is mostly its neighbour
  };

  void release(LiveCode& code) noexcept;
  void end_below(Ranges::iterator at, std::uint64_t address, Added& added) noexcept;
  Ranges::iterator at_or_above(std::uint64_t address) const noexcept;

  // Made by the first add(), never destroyed: the agent is a constant-initialized object that outlives
  // everything.
  Live* live_ = nullptr;
  TwinSpace twins_;
  Texts files_;
};

}  // namespace jitquill
