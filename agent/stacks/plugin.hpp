// What libjitquill-stacks.so does for the agent: one step up a call stack, by the unwinding tables of the
// code that stands there. A library of its own, since it needs libunwind (nongnu), which allocates from the
// host.
//
// It knows no process: registers are handed in, and memory is read by the caller's function, so that a copy
// of a stack does as well as the stack, and tables of code that lies nowhere yet as well as a module's.
//
// Context   [drain], one thread at a time, and none while the process forks (step_lock.hpp): libunwind has
//           locks. Not in a hook: it may map memory.
// Promises  nothing in the tables is trusted. Reads no memory but by Memory::read. Takes from malloc() only
//           when it is opened.
#pragma once

#include <cstddef>
#include <cstdint>

namespace jitquill::stacks {

// The name of the table changes with anything but new members at the end.
inline constexpr char kTableName[] = "jitquill_stacks_v1";
inline constexpr char kFileName[] = "libjitquill-stacks.so";

// Of one frame, by their x86-64 DWARF numbers.
struct Registers {
  static constexpr std::size_t kCount = 17;
  static constexpr std::size_t kBx = 3, kBp = 6, kSp = 7, kR12 = 12, kR13 = 13, kR14 = 14, kR15 = 15,
                               kPc = 16;
  std::uint64_t value[kCount];

  std::uint64_t pc() const noexcept { return value[kPc]; }
  std::uint64_t sp() const noexcept { return value[kSp]; }
};

struct Memory {
  void* to;
  // 8 bytes, at an address that need not be aligned. 0: they cannot be read.
  int (*read)(void* to, std::uint64_t address, std::uint64_t* word);
};

enum Step : int {
  kUnknown = -1,   // no tables that say how to go on, or what they ask for cannot be read
  kOutermost = 0,  // they say that nobody called this
  kCaller = 1,     // the registers are the caller's now; its pc is the return address
};

struct Plugin {
  std::uint32_t struct_size;
  std::uint32_t reserved;
  // From the frame that stands at `pc` (of a caller: an address inside its call, one below the return
  // address) to that of its caller. `tables`: where the .eh_frame_hdr is of the object that `pc` lies in.
  int (*step)(const Memory* memory, std::uint64_t pc, std::uint64_t tables, Registers* registers);
};

}  // namespace jitquill::stacks

extern "C" [[gnu::visibility("default")]] const jitquill::stacks::Plugin jitquill_stacks_v1;
