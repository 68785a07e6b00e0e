// Which code lives where: live ranges by address, which never overlap.
//
// Context   under the leaf lock.
// Promises  a load ends the ranges that it overlaps. Every operation costs O(log live functions). About 100
// bytes a
//           live function.
// Does not  free its memory when it is forgotten: a child that found it half-changed may not touch it.
//           Nor keep names, lines or ended ranges yet: their first user (run news, replay) brings them in.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

namespace jitquill {

struct LiveCode {
  std::uint64_t id = 0;
  std::uint64_t size = 0;
  std::uint32_t tail = 0;  // bytes behind the code that perf maps for its unwinding tables
};

class CodeMap {
 public:
  struct Added {
    bool has_memory = true;               // false: nothing was changed
    std::uint64_t replaced = 0;           // live functions that ended
    std::uint64_t tails_overwritten = 0;  // functions whose tail this code lies in
  };

  // How many bytes behind [address, address + size) belong to no live code, at most `wanted`.
  std::uint32_t free_room(std::uint64_t address, std::uint64_t size, std::uint32_t wanted) const noexcept;

  Added add(std::uint64_t address, const LiveCode& code) noexcept;
  std::optional<LiveCode> remove(std::uint64_t address) noexcept;

 private:
  using Live = std::map<std::uint64_t, LiveCode>;

  // Made by the first add(), never destroyed: the agent is a constant-initialized object that outlives
  // everything.
  Live* live_ = nullptr;
};

}  // namespace jitquill
