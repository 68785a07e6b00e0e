// Call stacks, from registers and a slice of the stack's memory: who called whom, up to the thread's start or
// the slice's end.
//
// Frames are left by the unwinding tables of their code, which the plugin reads (plugin.hpp); without tables,
// or without the plugin, by frame pointers. Tables are read where they are, in this process, or where the
// caller has them.
//
// Context   [drain]; any one thread. Allocates by nothrow operator new.
// Promises  a stack in which a frame was left by its frame pointer without anybody's word for it is marked as
//           partial: frames may be missing. No memory is touched that may be gone: it is copied by the
//           kernel. Bounded, whatever registers and slice are. Stops where no code is known: what is told was
//           code.
// Does not  know names, nor where return addresses are that hooks took: CodeSource::return_address() does, or
//           who made the slice put them back.
#pragma once

#include <cstdint>
#include <span>

#include "agent/stacks/plugin.hpp"
#include "agent/stacks/walk_memo.hpp"

namespace jitquill::stacks {

// Of the code at one address.
struct CodeTables {
  std::uint64_t header = 0;  // address of its .eh_frame_hdr; 0 = it has none: frame pointers
  std::uint64_t low = 0;     // [low, high): the module in whose memory the tables are
  std::uint64_t high = 0;
  std::span<const std::uint8_t> copy;  // or the tables themselves, made for this address
  std::uint64_t copy_at = 0;
  bool keeps_frame_pointer = false;  // so that leaving a frame by it is no guess
};

class CodeSource {
 public:
  // False: no code is known there.
  virtual bool find_tables(std::uint64_t address, CodeTables& tables) noexcept = 0;
  // What was in `slot` before somebody took it, if `found` is what they put there; 0: it is not known.
  virtual std::uint64_t return_address(std::uint64_t found, std::uint64_t /*slot*/) noexcept { return found; }

 protected:
  ~CodeSource() = default;
};

struct Walked {
  std::size_t count = 0;
  bool is_partial = false;  // frames may be missing
  bool has_end = false;     // the outermost is there, though a guess may have led to it
};

class StackWalker {
 public:
  StackWalker() noexcept = default;
  ~StackWalker();
  StackWalker(const StackWalker&) = delete;
  StackWalker& operator=(const StackWalker&) = delete;

  // Null: by frame pointers alone.
  void use(const Plugin* plugin) noexcept { plugin_ = plugin; }
  // What was read of tables may be another's by now.
  void forget_memory() noexcept;

  // The innermost first: an address inside the instruction that called, one below the return address.
  // `is_exact`: the innermost was interrupted there, instead of waiting for a call. `memo`: of the same
  // thread's walks, where code has not changed since.
  Walked walk(const Registers& innermost, bool is_exact, const Slice& slice, CodeSource& code,
              std::span<std::uint64_t> addresses, WalkMemo* memo = nullptr) noexcept;

 private:
  struct Page;
  static constexpr std::size_t kPages = 64;

  static int read_for_plugin(void* to, std::uint64_t address, std::uint64_t* word) noexcept;
  bool read(std::uint64_t address, std::uint64_t& word) noexcept;
  bool read_memory(std::uint64_t address, std::uint64_t& word) noexcept;
  const Page* page_of(std::uint64_t address) noexcept;
  Step step(std::uint64_t at, Registers& registers) noexcept;
  bool step_by_frame_pointer(Registers& registers) noexcept;
  bool is_signal_return(std::uint64_t pc) noexcept;

  const Plugin* plugin_ = nullptr;
  Page* pages_ = nullptr;  // by their numbers, kPages of them; null: none were read yet
  // Of the walk at hand.
  Slice slice_{};
  CodeTables tables_;
  bool has_guessed_ = false;
};

}  // namespace jitquill::stacks
