// The (function, descriptor) pairs of this process: one for each object that has a GDB JIT interface.
//
// Context   under the intakes' lock.
// Promises  at most 16 in the life of a process; more are counted, and nobody reads them. Each has a
//           trampoline of its own, so that a call of ours says whose it is.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace jitquill::gdb {

struct Pair {
  std::uint64_t function;
  std::uint64_t descriptor;
  bool is_attached;  // its list was read once
  bool is_patched;
};

class Pairs {
 public:
  static constexpr std::size_t kMost = 16;

  // True if there is something to attach to: a pair not known, or one whose object came again unpatched.
  bool note(std::uint64_t function, std::uint64_t descriptor) noexcept;
  std::span<Pair> all() noexcept { return std::span(pairs_).first(count_); }

 private:
  std::array<Pair, kMost> pairs_{};
  std::size_t count_ = 0;
  std::uint64_t left_out_ = 0;  // the last: each look meets it again
};

}  // namespace jitquill::gdb
