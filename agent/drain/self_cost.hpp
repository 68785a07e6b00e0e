// What emptying the lanes takes of the process's CPU time, for the sinks to tell.
//
// Context   [drain], under the drain's lock: whoever makes a pass. Two system calls a pass.
// Does not  count what the hooks took where records were made: it can be reckoned from how many there are.
#pragma once

#include <cstdint>

#include "agent/base/clock.hpp"
#include "agent/drain/drain.hpp"

namespace jitquill::drain {

class SelfCost {
 public:
  // A pass, and what it took.
  template <class MakePass>
  Pass of(MakePass make_pass) noexcept {
    const std::uint64_t before_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    const Pass pass = make_pass();
    cpu_ns_ += clock_ns(CLOCK_THREAD_CPUTIME_ID) - before_ns;
    records_ += pass.records;
    return pass;
  }
  // Once a second while records come, and at the end.
  void tell(Drain& drain, std::uint64_t now_ns, bool is_last) noexcept {
    if (records_ == told_records_ || (!is_last && now_ns - told_ns_ < kPauseNs)) return;
    told_ns_ = now_ns;
    told_records_ = records_;
    drain.tell_cost(cpu_ns_, records_);
  }

 private:
  static constexpr std::uint64_t kPauseNs = 1'000'000'000;

  std::uint64_t cpu_ns_ = 0;
  std::uint64_t records_ = 0;
  std::uint64_t told_records_ = 0;
  std::uint64_t told_ns_ = 0;
};

}  // namespace jitquill::drain
