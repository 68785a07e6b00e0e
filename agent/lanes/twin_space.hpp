// Address space of our own below a host's packed code, where perf may seem to find that code and its tables.
//
// perf needs the bytes behind a function for its unwinding tables. Where a host packs its code they belong to
// the next function; then the function is announced a second time at a twin in reserved space
// (docs/jitdump.md). Nothing is ever read, written or run there.
//
// Context   under the leaf lock.
// Promises  a twin lies below its code, within 2 GiB, and overlaps no other live twin. PROT_NONE memory: no
//           page is used. Where others have all of the space, one call in 1,024 looks for some again.
// Does not  fail loudly: without address space (RLIMIT_AS) there is no twin, and the function is counted as
//           without room.
#pragma once

#include <cstddef>
#include <cstdint>

#include "writer/model/code.hpp"

namespace jitquill {

class TwinSpace final : public TwinPlaces {
 public:
  static constexpr std::uint32_t kAsksBetween = 1'024;  // where all was taken, before it is tried again

  std::uint64_t take(std::uint64_t code_address, std::uint64_t size) noexcept override;
  // Their place may serve another function from now on.
  void give_back(std::uint64_t twin_address, std::uint64_t size) noexcept;

 private:
  struct Range {
    std::uint64_t start;
    std::uint64_t size;
  };
  static constexpr std::size_t kRegions = 64;
  static constexpr std::size_t kFreed = 64;  // more at one time are forgotten: address space, not memory

  std::uint64_t take_freed(std::uint64_t code_address, std::uint64_t size) noexcept;
  bool reserve(std::uint64_t code_address, std::uint64_t size) noexcept;
  bool is_refused(std::uint64_t top, std::uint64_t region_size) noexcept;

  Range regions_[kRegions] = {};  // what is left of each
  std::size_t region_count_ = 0;
  Range freed_[kFreed] = {};
  std::size_t freed_count_ = 0;
  Range refused_ = {};  // the place below which nothing so large was free
  std::uint32_t asks_left_ = 0;
};

}  // namespace jitquill
