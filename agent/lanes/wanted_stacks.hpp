// Which native functions' stacks are wanted, since their hooks know no names: the address space in pieces,
// each up to where the next one begins, the first from 0 on. Code that the drain has not seen yet is wanted,
// so that the first calls into a library are not missed: the drain leaves out what is not.
//
// Hooks search while the drain tells: it writes where nobody is sent, and sends them there. A hook that was
// held up while it searched, until the next was told, sees that and searches anew.
//
// Context   is_stack_wanted(): [hook]. tell_wanted_stacks(): [drain].
// Promises  bounded, however often it is told: two tables, and those that became too small for one, which
//           stay since a hook may be in them; all together less than four times the largest.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "writer/bytes/growing_array.hpp"

namespace jitquill::lanes {

struct WantedPiece {
  std::uint64_t start;
  std::uint64_t is_wanted;
};

class WantedTable {
 public:
  // `left` became too small.
  explicit WantedTable(std::uint64_t room, const WantedTable* left = nullptr) noexcept
      : room_(room), left_(left) {}

  std::uint64_t room() const noexcept { return room_; }
  // False: it was changed meanwhile.
  bool search(std::uint64_t address, bool& is_wanted) const noexcept;
  // So many must have room.
  void write(std::span<const WantedPiece> pieces) noexcept;
  bool has(std::span<const WantedPiece> pieces) const noexcept;

 private:
  struct Cell {
    std::atomic<std::uint64_t> start;
    std::atomic<std::uint64_t> is_wanted;
  };
  Cell* cells() noexcept { return reinterpret_cast<Cell*>(this + 1); }
  const Cell* cells() const noexcept { return reinterpret_cast<const Cell*>(this + 1); }

  const std::uint64_t room_;               // cells, which lie behind it
  std::atomic<std::uint64_t> writing_{0};  // odd: is being written
  std::atomic<std::uint64_t> count_{0};
  [[maybe_unused]] const WantedTable* const left_;  // where leak checkers find it: nobody else looks
};
extern constinit std::atomic<const WantedTable*> g_wanted_stacks;  // null: none

bool is_stack_wanted(std::uint64_t address) noexcept;

struct AddressSpan {
  std::uint64_t start;
  std::uint64_t end;
};
// Sorts them, and has hooks use them from now on. Of `seen`, all code that was looked at, `wanted` is a part.
// Without memory what was told before stands.
void tell_wanted_stacks(GrowingArray<AddressSpan>& seen, GrowingArray<AddressSpan>& wanted) noexcept;

}  // namespace jitquill::lanes
