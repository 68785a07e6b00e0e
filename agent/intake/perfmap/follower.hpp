// Reads a perf map that its runtime is still writing, and tells of the code that its lines name.
//
// Context   [notify]: a thread of ours, or the host's at its exit; under the intakes' lock.
// Promises  code is dated back to the last look that did not find its line: it may have run since then. A
//           step takes few milliseconds, whatever has been written or waited. Lines of what is not executable
//           yet wait for half a second; what never is (V8's bytecode), or lies in a file, is counted and not
//           told.
#pragma once

#include <cstdint>

#include "agent/intake/budget.hpp"
#include "agent/intake/code_ranges.hpp"
#include "agent/intake/memory.hpp"
#include "agent/intake/perfmap/map_line.hpp"
#include "agent/intake/perfmap/own_file.hpp"

namespace jitquill::intake::perfmap {

class Follower {
 public:
  enum class Progress { kNothing, kSome, kMore };

  // From its beginning. False if there is no such file.
  bool open(const char* path) noexcept;
  void close() noexcept;
  bool is_open() const noexcept { return file_.is_open(); }

  Progress step(Budget budget = Budget(kStepNs));
  void last_step(Budget budget = Budget(kLastStepNs));  // all that is left, as far as that goes

 private:
  // A line whose code is not executable yet.
  struct Waiting {
    std::uint64_t place;  // of the line in the file
    std::uint64_t start;
    std::uint64_t size;
    std::uint64_t since_ns;
    std::uint64_t until_ns;
  };
  static constexpr std::size_t kMostWaiting = 16 * 1024;
  static constexpr std::uint64_t kStepNs = 5'000'000;
  static constexpr std::uint64_t kLastStepNs = 100'000'000;

  bool has_news() const noexcept { return file_.size() > at_; }
  Progress read_lines(Budget& budget);
  void hear(std::string_view line, std::uint64_t place);
  void look_for_code(std::uint64_t now_ns);
  bool tell_waiting(std::uint64_t now_ns, Budget& budget);
  void tell(const Waiting& line);
  void tell(const MapLine& line, std::uint64_t since_ns);

  OwnFile file_;
  OwnFile maps_;                   // what the kernel says of our address space
  std::uint64_t at_ = 0;           // the next line's place
  std::uint64_t looked_ns_ = 0;    // at the address space
  bool has_looked_anew_ = false;   // and not told yet all lines that waited for what was found
  std::uint64_t read_all_ns_ = 0;  // lines that are there now were not yet then
  Block room_;
  CodeRanges ranges_;
  Growing<Waiting> waiting_ = {};
};

}  // namespace jitquill::intake::perfmap
