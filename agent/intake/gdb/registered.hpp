// What is registered with the process's GDB JIT interfaces, and what was told of it.
//
// Context   under the intakes' lock.
// Promises  each symbol file is told once, when its code is final, and its functions end with it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "agent/intake/gdb/pairs.hpp"
#include "agent/intake/memory.hpp"

namespace jitquill::gdb {

class Registered {
 public:
  void came(const Pair& pair, std::uint64_t entry);
  void went(const Pair& pair, std::uint64_t entry);
  // Compares the descriptor's list with what is known: for late comers, and where no call reaches us.
  void walk(const Pair& pair);

  // Of those whose code is not final yet. Any context.
  std::size_t waiting() const noexcept { return waiting_.load(std::memory_order_relaxed); }
  void became_final(std::uint64_t address, std::uint64_t size);
  // The host exits: what still waits is told as it is.
  void tell_waiting();

 private:
  struct Symfile {
    std::uint64_t descriptor;
    std::uint64_t entry;
    std::uint64_t address;
    std::uint64_t size;
    std::uint32_t walk;        // last one that saw it
    bool is_waiting;           // for its code to become final
    std::uint64_t since_ns;    // it may have run from then on; 0 = it is told at once
    std::uint8_t* copy;        // while it waits
    std::uint64_t* functions;  // told addresses
    std::size_t function_count;
  };

  std::size_t place_of(const Pair& pair, std::uint64_t entry) const noexcept;
  bool is_known(const Pair& pair, std::uint64_t entry) noexcept;
  void tell(Symfile& symfile, std::span<const std::uint8_t> copy);
  void stop_waiting(Symfile& symfile);
  void end(std::size_t at);
  void tell_those_that_became_final();

  intake::Growing<Symfile> symfiles_;
  std::atomic<std::size_t> waiting_{0};
  std::uint32_t walk_ = 0;
};

}  // namespace jitquill::gdb
