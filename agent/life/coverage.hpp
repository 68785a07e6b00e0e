// How much of the memory in which a JIT's code can be belongs to code that we know: what intakes have missed
// is in the rest, beside room that the JIT has not used.
//
// Most runtimes unmap their code before the process is gone: so it is looked at while code comes, too, and
// the moment with the most memory counts.
//
// Context   [notify], [life]: under the leaf lock; raw system calls only. Where a host is about to be gone:
//           also in a signal handler.
// Promises  a look reads 65,536 mappings at most, as many as the kernel gives a process by default. Looks
//           while code comes are made when there is a quarter more of it, twice as much from 64 functions on,
//           and take 1/400 of the time at most, beside their first 0.5 ms: of CPU time, since on a busy
//           machine one look may last longer, and the best moment would go by.
#pragma once

#include <cstdint>

#include "agent/lanes/code_map.hpp"

namespace jitquill {

struct Coverage {
  std::uint64_t code_bytes = 0;   // executable, of no file
  std::uint64_t known_bytes = 0;  // those of them in live code
};

// `maps`: a file laid out as /proc/self/maps. Zeroes if it cannot be read.
Coverage measure_coverage(const char* maps, const CodeMap& code) noexcept;

class CodeCoverage {
 public:
  void loaded(const CodeMap& code) noexcept {
    if (++loads_ - looked_ > (looked_ < kFew ? looked_ / 4 : looked_)) look_if_cheap(code);
  }
  // Before it: it may be the first of many, at the end.
  void unloads(const CodeMap& code) noexcept {
    if (loads_ - looked_ > looked_ / 16) look_if_cheap(code);
  }
  // With a last look.
  Coverage most(const CodeMap& code) noexcept {
    take(measure_coverage(kMaps, code));
    return most_;
  }
  void forget() noexcept { *this = {}; }  // in a child

 private:
  static constexpr const char* kMaps = "/proc/self/maps";
  static constexpr std::uint64_t kFew = 64;

  void look_if_cheap(const CodeMap& code) noexcept;
  void take(const Coverage& now) noexcept;

  Coverage most_;
  std::uint64_t loads_ = 0;
  std::uint64_t looked_ = 0;  // loads_ at the last look
  std::uint64_t first_ns_ = 0;
  std::uint64_t spent_ns_ = 0;  // of CPU time
};

}  // namespace jitquill
