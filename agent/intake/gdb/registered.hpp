// What is registered with the process's GDB JIT interfaces, and what was told of it.
//
// Context   under the intakes' lock.
// Promises  each symbol file is told once, when its code is final, and its functions end with it.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "agent/intake/gdb/jit_interface.hpp"
#include "agent/intake/gdb/pairs.hpp"
#include "agent/intake/gdb/symfile_list.hpp"
#include "agent/intake/memory.hpp"

namespace jitquill::gdb {

class Registered {
 public:
  void came(const Pair& pair, std::uint64_t entry);
  void went(const Pair& pair, std::uint64_t entry);
  // Compares the descriptor's list with what is known: for late comers, and where no call reaches us.
  void walk(const Pair& pair);
  // The same for who looks often. JITs add in front: it ends at the first entry that is known as it is. What
  // else happened behind that is seen by a whole walk, which is due when looks at kEntriesPerLook entries
  // each would have cost as much: at each look while they are no more than that.
  void look(const Pair& pair);
  static constexpr std::size_t kEntriesPerLook = 32;

  // Of those whose code is not final yet: none in a child where none came, its parent tells them. Any
  // context.
  std::size_t waiting() const noexcept;
  void became_final(std::uint64_t address, std::uint64_t size);
  // The host exits: what still waits is told as it is.
  void tell_waiting();

 private:
  SymfileList* list_of(const Pair& pair) noexcept;
  void read_list(SymfileList& list, const JitDescriptor& descriptor, bool is_whole);
  bool meet(SymfileList& list, std::uint64_t entry, const JitEntry& from);
  void add(SymfileList& list, std::uint64_t entry, const JitEntry& from);
  void wait(Symfile& symfile, intake::Block copy);
  void tell(Symfile& symfile, std::span<const std::uint8_t> copy);
  void tell_copy(Symfile& symfile);
  void end(SymfileList& list, Symfile& symfile);
  void tell_those_that_became_final();
  void wait_in_this_process() noexcept;
  template <class IsKept>
  void keep_waiting_if(IsKept is_kept);

  std::array<SymfileList, Pairs::kMost> lists_{};
  intake::Growing<Symfile*> waiting_;  // for their code to become final
  std::atomic<std::size_t> waiting_count_{0};
  std::atomic<std::uint32_t> waiting_pid_{0};
  std::uint32_t walk_ = 0;
};

}  // namespace jitquill::gdb
