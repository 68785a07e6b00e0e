// The perf event that a thread is sampled by: what is asked of the kernel, and with what less it will do.
//
// Source    perf_event_open(2).
// Context   [drain]; raw system calls.
// Promises  a process that may not see the kernel's side is sampled in its own code; one whose machine has no
//           counter of cycles by the clock. Both are said (is_blind_to_kernel(), has_no_cycles()).
#pragma once

#include <asm/perf_regs.h>
#include <linux/perf_event.h>

#include <cstddef>
#include <cstdint>

#include "agent/stacks/plugin.hpp"

namespace jitquill::sampler {

// What the user asked for.
struct Wish {
  std::uint32_t hz = 0;           // samples a second of each CPU that runs the process; 0 = none
  std::uint32_t stack_bytes = 0;  // of a sample's stack; a multiple of 8, 0 = the innermost function alone
  bool by_cycles = false;         // not by the clock
};

// A record has at most 64 KiB: room is left for all else in it.
inline constexpr std::uint32_t kMostStackBytes = 60 * 1024;
inline constexpr std::uint32_t kMostHz = 100'000;

// What is asked for of the registers, in the kernel's order, and where each stands in ours.
struct KernelRegister {
  unsigned kernel;
  std::size_t dwarf;
};
inline constexpr KernelRegister kRegisters[] = {
    {PERF_REG_X86_AX, 0},
    {PERF_REG_X86_BX, stacks::Registers::kBx},
    {PERF_REG_X86_CX, 2},
    {PERF_REG_X86_DX, 1},
    {PERF_REG_X86_SI, 4},
    {PERF_REG_X86_DI, 5},
    {PERF_REG_X86_BP, stacks::Registers::kBp},
    {PERF_REG_X86_SP, stacks::Registers::kSp},
    {PERF_REG_X86_IP, stacks::Registers::kPc},
    {PERF_REG_X86_R8, 8},
    {PERF_REG_X86_R9, 9},
    {PERF_REG_X86_R10, 10},
    {PERF_REG_X86_R11, 11},
    {PERF_REG_X86_R12, stacks::Registers::kR12},
    {PERF_REG_X86_R13, stacks::Registers::kR13},
    {PERF_REG_X86_R14, stacks::Registers::kR14},
    {PERF_REG_X86_R15, stacks::Registers::kR15},
};

class Event {
 public:
  void set(const Wish& wish, std::uint32_t ring_bytes) noexcept;
  // Of a thread, and those that it makes, on one CPU. A descriptor, or -errno.
  int open(std::uint32_t tid, std::uint32_t cpu) noexcept;

  // Which the samples of all that inherit it have.
  static std::uint64_t id_of(int event) noexcept;
  // Samples no more. How many of its samples, and of those that inherit it, found no room in the ring: 0
  // before Linux 6.0.
  std::uint64_t end(int event) const noexcept;

  bool is_blind_to_kernel() const noexcept { return attributes_.exclude_kernel != 0; }
  bool has_no_cycles() const noexcept { return has_no_cycles_; }

  // Of one sample in the ring, at the most.
  static constexpr std::uint32_t bytes_of_sample(std::uint32_t stack_bytes) noexcept {
    constexpr std::uint32_t kWord = 8;
    constexpr std::uint32_t kHead = 8 * kWord;  // header, ip, pid and tid, time, id, cpu, abi, size
    return kHead + static_cast<std::uint32_t>(sizeof(stacks::Registers)) + stack_bytes + kWord;
  }

 private:
  bool take_less(int error) noexcept;
  void count_by_clock() noexcept;

  perf_event_attr attributes_{};
  bool has_no_cycles_ = false;
};

}  // namespace jitquill::sampler
