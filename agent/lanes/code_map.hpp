// Which code lives where: live ranges by address, which never overlap.
//
// Context   under the leaf lock.
// Promises  a load ends the ranges that it overlaps. Every operation costs O(log live functions), and the
//           memory of code_pages.hpp.
// Does not  free its memory when it is forgotten: a child that found it half-changed may not touch it. Nor
//           keep ended ranges: those that events are of, agent/drain/functions.hpp keeps.
#pragma once

#include <cstdint>

#include "agent/lanes/code_pages.hpp"
#include "agent/lanes/kept_code.hpp"
#include "agent/lanes/live_code.hpp"
#include "agent/lanes/twin_space.hpp"
#include "writer/model/code.hpp"

namespace jitquill {

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
  Added add(const CodeLoad& load, const LiveCode& code, bool keeps_load) noexcept;
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
    live_->for_each([&](std::uint64_t address, LiveCode& code) {
      if (code.kept != nullptr) announce(address, code);
    });
  }

  // Calls visit(sites) for all live code that has some.
  template <class Visit>
  void for_each_sites(Visit visit) noexcept {
    if (live_ == nullptr) return;
    live_->for_each([&](std::uint64_t, LiveCode& code) {
      if (code.sites != nullptr) visit(*code.sites);
    });
  }

  TwinPlaces& twins() noexcept { return twins_; }
  // The twin of a load that was not added, or that is announced again with another.
  void give_back_twin(std::uint64_t address, std::uint64_t size) noexcept {
    if (address != 0) twins_.give_back(address, size);
  }

 private:
  using Place = CodePages::Place;

  void release(LiveCode& code) noexcept;
  void end_below(Place& at, std::uint64_t address, Added& added) noexcept;

  // Made by the first add(), never destroyed: the agent is a constant-initialized object that outlives
  // everything.
  CodePages* live_ = nullptr;
  TwinSpace twins_;
  Texts files_;
};

}  // namespace jitquill
